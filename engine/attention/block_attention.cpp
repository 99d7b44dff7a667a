#include "engine/attention/block_attention.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <limits>

#include "engine/kernels/block_softmax.h"

namespace ringmaster {

namespace {

// A block of scores, kRows × kKeys floats, stays in a core's second-level cache.
constexpr int64_t kRows = 256;
constexpr int64_t kKeys = 512;

struct Shape {
    int64_t B, H, K, T, S, D;
    int64_t group() const { return H / K; }  ///< query heads that share a key/value head
    int64_t queries() const { return std::max<int64_t>(16, kRows / group()); }
};

Shape shape_of(const at::Tensor& q_bhtd, const at::Tensor& k_bksd) {
    return {q_bhtd.size(0), q_bhtd.size(1), k_bksd.size(1), q_bhtd.size(2), k_bksd.size(2), q_bhtd.size(3)};
}

at::Tensor empty_as_bthd(int64_t B, int64_t heads, int64_t tokens, int64_t D, const at::Tensor& like) {
    return at::empty({B, tokens, heads, D}, like.options()).transpose(1, 2);
}

/// Queries [begin, end) of the heads of one group, one head behind the other: [group · queries, D].
at::Tensor group_rows(const at::Tensor& x_bhtd, int64_t b, int64_t first_head, int64_t heads, int64_t begin,
                      int64_t end) {
    return x_bhtd.select(0, b).narrow(0, first_head, heads).narrow(1, begin, end - begin);
}

BlockMask mask_of(bool causal, int64_t query_begin, int64_t query_end, int64_t key_begin, int64_t key_end) {
    if (!causal || key_end <= query_begin + 1) return {};
    return {false, query_end - query_begin, query_begin + 1 - key_begin};
}

void forward_rows(const Shape& s, const at::Tensor& q_bhtd, const at::Tensor& k_sd, const at::Tensor& v_sd,
                  at::Tensor out_bhtd, at::Tensor lse_bht, int64_t b, int64_t kv_head, int64_t begin,
                  int64_t end, bool causal, double scale) {
    const BlockSoftmax& softmax = block_softmax();
    const int64_t group = s.group();
    const int64_t rows = group * (end - begin);
    const auto options = q_bhtd.options();
    const at::Tensor q_rd =
        (group_rows(q_bhtd, b, kv_head * group, group, begin, end) * scale).reshape({rows, s.D});
    at::Tensor out_rd = at::zeros({rows, s.D}, options);
    at::Tensor top_r = at::full({rows}, -std::numeric_limits<float>::infinity(), options);
    at::Tensor sum_r = at::zeros({rows}, options);
    at::Tensor shrink_r = at::empty({rows}, options);
    at::Tensor scores = at::empty({rows * kKeys}, options);
    const int64_t last_key = causal ? std::min(end, s.S) : s.S;
    for (int64_t key = 0; key < last_key; key += kKeys) {
        const int64_t keys = std::min(kKeys, last_key - key);
        at::Tensor scores_rk = scores.narrow(0, 0, rows * keys).view({rows, keys});
        at::mm_out(scores_rk, q_rd, k_sd.narrow(0, key, keys).t());
        softmax.forward(scores_rk.data_ptr<float>(), rows, keys, mask_of(causal, begin, end, key, key + keys),
                        top_r.data_ptr<float>(), sum_r.data_ptr<float>(), shrink_r.data_ptr<float>());
        if (key > 0) softmax.rescale(out_rd.data_ptr<float>(), shrink_r.data_ptr<float>(), rows, s.D);
        at::addmm_out(out_rd, out_rd, scores_rk, v_sd.narrow(0, key, keys), key > 0 ? 1 : 0, 1);
    }
    out_rd.div_(sum_r.unsqueeze(1));
    group_rows(out_bhtd, b, kv_head * group, group, begin, end).copy_(out_rd.view({group, end - begin, s.D}));
    lse_bht.select(0, b)
        .narrow(0, kv_head * group, group)
        .narrow(1, begin, end - begin)
        .copy_(sum_r.log().add_(top_r).view({group, end - begin}));
}

/// One key/value head with all queries that see it: its dk and dv, and those heads' dq.
void backward_head(const Shape& s, const at::Tensor& dout_bhtd, const at::Tensor& q_bhtd,
                   const at::Tensor& k_sd, const at::Tensor& v_sd, const at::Tensor& lse_bht,
                   const at::Tensor& delta_bht, at::Tensor dq_bhtd, at::Tensor dk_sd, at::Tensor dv_sd,
                   int64_t b, int64_t kv_head, bool causal, double scale) {
    const BlockSoftmax& softmax = block_softmax();
    const int64_t group = s.group();
    const auto options = q_bhtd.options();
    at::Tensor scores = at::empty({group * s.queries() * kKeys}, options);
    at::Tensor dscores = at::empty_like(scores);
    for (int64_t begin = 0; begin < s.T; begin += s.queries()) {
        const int64_t end = std::min(begin + s.queries(), s.T);
        const int64_t rows = group * (end - begin);
        auto gathered = [&](const at::Tensor& x) {
            return group_rows(x, b, kv_head * group, group, begin, end).reshape({rows, s.D});
        };
        auto gathered_scalars = [&](const at::Tensor& x_bht) {
            return x_bht.select(0, b)
                .narrow(0, kv_head * group, group)
                .narrow(1, begin, end - begin)
                .contiguous();
        };
        const at::Tensor q_rd = gathered(q_bhtd), dout_rd = gathered(dout_bhtd);
        const at::Tensor scaled_q_rd = q_rd * scale;
        const at::Tensor lse_r = gathered_scalars(lse_bht), delta_r = gathered_scalars(delta_bht);
        at::Tensor dq_rd = at::empty({rows, s.D}, options);
        const int64_t last_key = causal ? std::min(end, s.S) : s.S;
        for (int64_t key = 0; key < last_key; key += kKeys) {
            const int64_t keys = std::min(kKeys, last_key - key);
            const at::Tensor k_kd = k_sd.narrow(0, key, keys);
            at::Tensor scores_rk = scores.narrow(0, 0, rows * keys).view({rows, keys});
            at::Tensor dscores_rk = dscores.narrow(0, 0, rows * keys).view({rows, keys});
            at::mm_out(scores_rk, scaled_q_rd, k_kd.t());
            at::mm_out(dscores_rk, dout_rd, v_sd.narrow(0, key, keys).t());
            softmax.backward(scores_rk.data_ptr<float>(), dscores_rk.data_ptr<float>(), rows, keys,
                             mask_of(causal, begin, end, key, key + keys), lse_r.data_ptr<float>(),
                             delta_r.data_ptr<float>(), static_cast<float>(scale));
            at::Tensor dk_kd = dk_sd.narrow(0, key, keys), dv_kd = dv_sd.narrow(0, key, keys);
            at::addmm_out(dv_kd, dv_kd, scores_rk.t(), dout_rd);
            at::addmm_out(dk_kd, dk_kd, dscores_rk.t(), q_rd);
            at::addmm_out(dq_rd, dq_rd, dscores_rk, k_kd, key > 0 ? 1 : 0, 1);
        }
        group_rows(dq_bhtd, b, kv_head * group, group, begin, end)
            .copy_(dq_rd.view({group, end - begin, s.D}));
    }
}

/// A head's rows side by side, as the matrix products want them.
at::Tensor head_of(const at::Tensor& x_bksd, int64_t b, int64_t head) {
    return x_bksd.select(0, b).select(0, head).contiguous();
}

}  // namespace

std::tuple<at::Tensor, at::Tensor> block_attention_forward(const at::Tensor& q_bhtd, const at::Tensor& k_bksd,
                                                           const at::Tensor& v_bksd, bool causal,
                                                           double scale) {
    const Shape s = shape_of(q_bhtd, k_bksd);
    at::Tensor out_bhtd = empty_as_bthd(s.B, s.H, s.T, s.D, q_bhtd);
    at::Tensor lse_bht = at::empty({s.B, s.H, s.T}, q_bhtd.options());
    const int64_t blocks = (s.T + s.queries() - 1) / s.queries();
    at::parallel_for(0, s.B * s.K, 1, [&](int64_t first, int64_t last) {
        for (int64_t task = first; task < last; ++task) {
            const int64_t b = task / s.K, head = task % s.K;
            const at::Tensor k_sd = head_of(k_bksd, b, head), v_sd = head_of(v_bksd, b, head);
            for (int64_t block = 0; block < blocks; ++block) {
                const int64_t begin = block * s.queries();
                forward_rows(s, q_bhtd, k_sd, v_sd, out_bhtd, lse_bht, b, head, begin,
                             std::min(begin + s.queries(), s.T), causal, scale);
            }
        }
    });
    return {out_bhtd, lse_bht};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> block_attention_backward(
    const at::Tensor& dout_bhtd, const at::Tensor& q_bhtd, const at::Tensor& k_bksd, const at::Tensor& v_bksd,
    const at::Tensor& out_bhtd, const at::Tensor& lse_bht, bool causal, double scale) {
    const Shape s = shape_of(q_bhtd, k_bksd);
    const at::Tensor delta_bht = (dout_bhtd * out_bhtd).sum(3);
    at::Tensor dq_bhtd = empty_as_bthd(s.B, s.H, s.T, s.D, q_bhtd);
    at::Tensor dk_bksd = at::zeros({s.B, s.K, s.S, s.D}, q_bhtd.options());
    at::Tensor dv_bksd = at::zeros({s.B, s.K, s.S, s.D}, q_bhtd.options());
    at::parallel_for(0, s.B * s.K, 1, [&](int64_t first, int64_t last) {
        for (int64_t task = first; task < last; ++task) {
            const int64_t b = task / s.K, head = task % s.K;
            backward_head(s, dout_bhtd, q_bhtd, head_of(k_bksd, b, head), head_of(v_bksd, b, head), lse_bht,
                          delta_bht, dq_bhtd, dk_bksd.select(0, b).select(0, head),
                          dv_bksd.select(0, b).select(0, head), b, head, causal, scale);
        }
    });
    return {dq_bhtd, dk_bksd, dv_bksd};
}

}  // namespace ringmaster
