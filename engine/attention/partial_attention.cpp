#include "engine/attention/partial_attention.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "engine/attention/cuda_flash.h"
#include "engine/plan/attention_kernels.h"

namespace ringmaster {

namespace {

at::Tensor queries_of(const at::Tensor& x_bht, const Slice& slice) {
    return x_bht.narrow(2, slice.query_begin, slice.query_end - slice.query_begin);
}
at::Tensor keys_of(const at::Tensor& x_bks, const Slice& slice) {
    return x_bks.narrow(2, slice.key_begin, slice.key_end - slice.key_begin);
}

FlashOutput reversed(const FlashOutput& x) {
    return {x.out_bhtd.flip(2), x.lse_bht.flip(2)};
}

/// Asserts that there is no softcap on a GPU: LibTorch's CUDA kernels have none, and the plan refuses it.
void check_device(const ScoreRule& rule, const at::Tensor& q) {
    TORCH_INTERNAL_ASSERT(rule.softcap == 0 || q.is_cpu(), "a softcap of scores on a GPU");
}

/// Computes a slice. A triangle at the trailing edge of a window is a causal one, read backwards.
FlashOutput slice_forward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, SliceMask mask,
                          double scale) {
    if (mask != SliceMask::InverseCausal)
        return float_flash_forward(q, k, v, mask == SliceMask::Causal, scale);
    return reversed(float_flash_forward(q.flip(2), k.flip(2), v.flip(2), true, scale));
}

FlashGradients slice_backward(const at::Tensor& dout, const at::Tensor& q, const at::Tensor& k,
                              const at::Tensor& v, const FlashOutput& whole, SliceMask mask, double scale) {
    if (mask != SliceMask::InverseCausal)
        return float_flash_backward(dout, q, k, v, whole, mask == SliceMask::Causal, scale);
    const FlashGradients d =
        float_flash_backward(dout.flip(2), q.flip(2), k.flip(2), v.flip(2), reversed(whole), true, scale);
    return {d.dq_bhtd.flip(2), d.dk_bksd.flip(2), d.dv_bksd.flip(2)};
}

bool goes_by(AttentionFamily family, const at::Tensor& q) {
    const Device device = q.is_cpu() ? Device::Cpu : Device::Cuda;
    return attention_family(device, q.scalar_type() == at::kFloat, q.size(3)) == family;
}

/// Returns true if the slices are a single square that the float32 kernel takes as it is.
bool is_one_square(const std::vector<Slice>& slices, const at::Tensor& q_bhtd, const at::Tensor& k_bksd) {
    const int64_t queries = q_bhtd.size(2), keys = k_bksd.size(2);
    return slices.size() == 1 && slices[0].mask != SliceMask::InverseCausal &&
           slices[0] == Slice{0, queries, 0, keys, slices[0].mask};
}

/// Returns the dot products of the rows, in float32, one head at a time.
at::Tensor dot_bht(const at::Tensor& x_bhtd, const at::Tensor& y_bhtd) {
    const int64_t B = x_bhtd.size(0), H = x_bhtd.size(1);
    at::Tensor dot = at::empty({B, H, x_bhtd.size(2)}, x_bhtd.options().dtype(at::kFloat));
    at::parallel_for(0, B * H, 1, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
            const auto of = [&](const at::Tensor& x) { return x.select(0, i / H).select(0, i % H); };
            at::Tensor dot_t = of(dot);
            at::sum_out(dot_t, of(x_bhtd).to(at::kFloat) * of(y_bhtd), {1});
        }
    });
    return dot;
}

}  // namespace

bool makes_gradients(const at::Tensor& k, bool one_call) {
    return one_call && goes_by(AttentionFamily::FlashAttention2, k);
}

PartialAttention::PartialAttention(const at::Tensor& q_bhtd, const ScoreRule& rule)
    : q_bhtd_(q_bhtd), rule_(rule) {
    check_device(rule, q_bhtd);
    if (q_bhtd.is_cpu()) {
        sums_ = no_keys_seen(q_bhtd);
    } else {
        parts_.emplace(q_bhtd, PartSums::Kind::Outputs);
    }
}

void PartialAttention::add(const at::Tensor& k_bksd, const at::Tensor& v_bksd, const KeyHeads& heads,
                           const std::vector<Slice>& slices) {
    const at::Tensor q = heads.of_queries(q_bhtd_);
    if (goes_by(AttentionFamily::OwnBlocks, q)) {
        SoftmaxSums sums{heads.of_queries(sums_.values_bhtd), heads.of_queries(sums_.top_bht),
                         heads.of_queries(sums_.total_bht)};
        return block_attention_forward(sums, q, k_bksd, v_bksd, slices, rule_);
    }
    const int64_t first_head = heads.begin * heads.group;
    if (goes_by(AttentionFamily::FlashAttention2, q))
        return packed_forward(cuda_flash_kernel(rule_.scale), {*parts_, first_head}, q, k_bksd, v_bksd,
                              slices);
    for (const Slice& slice : slices) {
        const FlashOutput part = slice_forward(queries_of(q, slice), keys_of(k_bksd, slice),
                                               keys_of(v_bksd, slice), slice.mask, rule_.scale);
        parts_->add({part.out_bhtd.transpose(1, 2), part.lse_bht, slice.query_begin, first_head});
    }
}

FlashOutput PartialAttention::finish() {
    if (parts_) return parts_->finish();
    const auto dtype = q_bhtd_.scalar_type();
    const at::Tensor divisor = sums_.total_bht.masked_fill(sums_.total_bht == 0, 1).unsqueeze(3);
    return {sums_.values_bhtd.div_(divisor).to(dtype), sums_.total_bht.log().add_(sums_.top_bht)};
}

PartialGradients::PartialGradients(const at::Tensor& dout_bhtd, const at::Tensor& q_bhtd,
                                   const FlashOutput& whole, const ScoreRule& rule)
    : dout_bhtd_(dout_bhtd), q_bhtd_(q_bhtd), whole_(whole), rule_(rule) {
    check_device(rule, q_bhtd);
    if (!q_bhtd.is_cpu()) {
        parts_.emplace(q_bhtd, PartSums::Kind::Gradients);
        return;
    }
    dq_bhtd_ = no_keys_seen(q_bhtd).values_bhtd;
    delta_bht_ = dot_bht(dout_bhtd, whole.out_bhtd);
}

at::Tensor PartialGradients::finish() {
    return parts_ ? parts_->finish().out_bhtd : dq_bhtd_;
}

void PartialGradients::add(const at::Tensor& k_bksd, const at::Tensor& v_bksd, const KeyHeads& heads,
                           const std::vector<Slice>& slices, KeyGradients& d) {
    const at::Tensor q = heads.of_queries(q_bhtd_), dout = heads.of_queries(dout_bhtd_);
    const at::Tensor lse = heads.of_queries(whole_.lse_bht), out = heads.of_queries(whole_.out_bhtd);
    const int64_t first_head = heads.begin * heads.group;
    if (goes_by(AttentionFamily::FlashAttention2, q))
        return packed_backward(cuda_flash_kernel(rule_.scale), {*parts_, first_head}, d, dout, q, k_bksd,
                               v_bksd, {out, lse}, slices);
    if (d.begin) {
        d.dk_bksd.zero_();
        d.dv_bksd.zero_();
    }
    if (goes_by(AttentionFamily::OwnBlocks, q)) {
        return block_attention_backward(heads.of_queries(dq_bhtd_), d.dk_bksd, d.dv_bksd, dout, q, k_bksd,
                                        v_bksd, lse, heads.of_queries(delta_bht_), slices, rule_);
    }
    for (const Slice& slice : slices) {
        const FlashGradients part = slice_backward(
            queries_of(dout, slice), queries_of(q, slice), keys_of(k_bksd, slice), keys_of(v_bksd, slice),
            {queries_of(out, slice), queries_of(lse, slice)}, slice.mask, rule_.scale);
        parts_->add({part.dq_bhtd.transpose(1, 2), {}, slice.query_begin, first_head});
        keys_of(d.dk_bksd, slice).add_(part.dk_bksd);
        keys_of(d.dv_bksd, slice).add_(part.dv_bksd);
    }
}

std::optional<FlashOutput> attention_in_one_call(const at::Tensor& q_bhtd, const at::Tensor& k_bksd,
                                                 const at::Tensor& v_bksd, const std::vector<Slice>& slices,
                                                 const ScoreRule& rule) {
    if (q_bhtd.is_cpu()) return {};
    check_device(rule, q_bhtd);
    if (goes_by(AttentionFamily::FlashAttention2, q_bhtd))
        return one_call_forward(cuda_flash_kernel(rule.scale), q_bhtd, k_bksd, v_bksd, slices);
    if (!is_one_square(slices, q_bhtd, k_bksd)) return {};
    return float_flash_forward(q_bhtd, k_bksd, v_bksd, slices[0].mask == SliceMask::Causal, rule.scale);
}

std::optional<FlashGradients> gradients_in_one_call(const at::Tensor& dout_bhtd, const at::Tensor& q_bhtd,
                                                    const at::Tensor& k_bksd, const at::Tensor& v_bksd,
                                                    const FlashOutput& whole,
                                                    const std::vector<Slice>& slices, const ScoreRule& rule) {
    if (q_bhtd.is_cpu()) return {};
    check_device(rule, q_bhtd);
    if (goes_by(AttentionFamily::FlashAttention2, q_bhtd))
        return one_call_backward(cuda_flash_kernel(rule.scale), dout_bhtd, q_bhtd, k_bksd, v_bksd, whole,
                                 slices, true);
    if (!is_one_square(slices, q_bhtd, k_bksd)) return {};
    return float_flash_backward(dout_bhtd, q_bhtd, k_bksd, v_bksd, whole, slices[0].mask == SliceMask::Causal,
                                rule.scale);
}

}  // namespace ringmaster
