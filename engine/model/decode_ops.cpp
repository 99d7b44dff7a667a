#include "engine/model/decode_ops.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "engine/kernels/decode.h"
#include "engine/model/kernel_elements.h"
#include "engine/model/ops.h"

namespace ringmaster {

namespace {

constexpr int64_t kOutputsPerTask = 64;

/// Computes the attention of each token separately.
at::Tensor on_cpu(const at::Tensor& q_nhd, const at::Tensor& keys_bksd, const at::Tensor& values_bksd,
                  const std::vector<DecodedToken>& tokens, const ScoreRule& rule, const at::Tensor& sinks_h) {
    at::Tensor out_nhd = at::empty(q_nhd.sizes(), q_nhd.options());
    const int64_t key_heads = keys_bksd.size(1), D = q_nhd.size(2), shared = q_nhd.size(1) / key_heads;
    const auto scale = static_cast<float>(rule.scale_of(q_nhd)), softcap = static_cast<float>(rule.softcap);
    const float* sinks = sinks_h.defined() ? sinks_h.const_data_ptr<float>() : nullptr;
    with_element(q_nhd, [&]<typename T>(T) {
        at::parallel_for(0, q_nhd.size(0) * key_heads, 1, [&](int64_t begin, int64_t end) {
            std::vector<float> scores(static_cast<size_t>(shared * (keys_bksd.size(2) + 1)));
            for (int64_t i = begin; i < end; ++i) {
                const int64_t n = i / key_heads, k = i % key_heads;
                const DecodedToken& token = tokens[static_cast<size_t>(n)];
                const int64_t at =
                    token.row * keys_bksd.stride(0) + k * keys_bksd.stride(1) + token.begin * D;
                const int64_t of_heads = (n * key_heads + k) * shared * D;
                decode_kernels<T>().attend(pointer<T>(q_nhd) + of_heads, pointer<T>(keys_bksd) + at,
                                           pointer<T>(values_bksd) + at, pointer<T>(out_nhd) + of_heads,
                                           scores.data(),
                                           {shared, D, token.end - token.begin, scale, softcap,
                                            sinks == nullptr ? nullptr : sinks + k * shared});
            }
        });
    });
    return out_nhd;
}

/// Computes the attention of all tokens at once. Each token gets all keys of its row, and a mask hides the
/// keys that the token does not see.
at::Tensor masked(const at::Tensor& q_nhd, const at::Tensor& keys_nksd, const at::Tensor& values_nksd,
                  const at::Tensor& begin_n, const at::Tensor& end_n, const ScoreRule& rule,
                  const at::Tensor& sinks_h) {
    const int64_t K = keys_nksd.size(1), D = q_nhd.size(2);
    const at::Tensor q_nkgd = q_nhd.reshape({q_nhd.size(0), K, -1, D}).to(at::kFloat);
    at::Tensor scores =
        at::matmul(q_nkgd, keys_nksd.to(at::kFloat).transpose(2, 3)).mul_(rule.scale_of(q_nhd));
    if (rule.softcap != 0) scores.div_(rule.softcap).tanh_().mul_(rule.softcap);
    const at::Tensor place_s = at::arange(keys_nksd.size(2), begin_n.options());
    const at::Tensor hidden = place_s.lt(begin_n.unsqueeze(1)).logical_or(place_s.ge(end_n.unsqueeze(1)));
    scores.masked_fill_(hidden.view({-1, 1, 1, place_s.size(0)}), -std::numeric_limits<float>::infinity());
    if (sinks_h.defined()) {
        const at::Tensor sinks = sinks_h.view({1, K, -1, 1}).expand({scores.size(0), -1, -1, 1});
        scores = at::cat({scores, sinks}, 3);
    }
    const at::Tensor shares = at::softmax(scores, -1).narrow(3, 0, place_s.size(0));
    const at::Tensor out = at::matmul(shares, values_nksd.to(at::kFloat));
    return out.view(q_nhd.sizes()).to(q_nhd.scalar_type());
}

/// Computes as many tokens at a time as the cache has rows, because each token gets a copy of its row's keys.
at::Tensor by_library(const at::Tensor& q_nhd, const at::Tensor& keys_bksd, const at::Tensor& values_bksd,
                      const std::vector<DecodedToken>& tokens, const ScoreRule& rule,
                      const at::Tensor& sinks_h) {
    const auto numbers = [&](auto member) {
        std::vector<int64_t> values;
        for (const DecodedToken& token : tokens) values.push_back(token.*member);
        return at::tensor(values, at::kLong).to(q_nhd.device());
    };
    const at::Tensor row_n = numbers(&DecodedToken::row), begin_n = numbers(&DecodedToken::begin),
                     end_n = numbers(&DecodedToken::end);
    int64_t longest = 0;
    for (const DecodedToken& token : tokens) longest = std::max(longest, token.end);
    at::Tensor out_nhd = at::empty(q_nhd.sizes(), q_nhd.options());
    const int64_t at_once = std::max<int64_t>(1, keys_bksd.size(0));
    for (int64_t n = 0; n < q_nhd.size(0); n += at_once) {
        const int64_t count = std::min(at_once, q_nhd.size(0) - n);
        const at::Tensor rows = row_n.narrow(0, n, count);
        out_nhd.narrow(0, n, count)
            .copy_(masked(q_nhd.narrow(0, n, count), keys_bksd.narrow(2, 0, longest).index_select(0, rows),
                          values_bksd.narrow(2, 0, longest).index_select(0, rows),
                          begin_n.narrow(0, n, count), end_n.narrow(0, n, count), rule, sinks_h));
    }
    return out_nhd;
}

}  // namespace

at::Tensor decode_linear(const at::Tensor& x_nc, const at::Tensor& weight_oc, const at::Tensor& bias_o) {
    if (!x_nc.is_cpu()) return linear(x_nc, weight_oc, bias_o);
    at::Tensor y_no = at::empty({x_nc.size(0), weight_oc.size(0)}, x_nc.options());
    const at::Tensor x = x_nc.stride(1) == 1 ? x_nc : x_nc.contiguous();
    with_element(x_nc, [&]<typename T>(T) {
        at::parallel_for(0, weight_oc.size(0), kOutputsPerTask, [&](int64_t begin, int64_t end) {
            decode_kernels<T>().linear(pointer<T>(x), pointer<T>(weight_oc),
                                       bias_o.defined() ? pointer<T>(bias_o) : nullptr, pointer<T>(y_no),
                                       x.size(0), x.size(1), begin, end, x.stride(0), weight_oc.stride(0),
                                       y_no.stride(0));
        });
    });
    return y_no;
}

at::Tensor decode_attention(const at::Tensor& q_nhd, const at::Tensor& keys_bksd,
                            const at::Tensor& values_bksd, const std::vector<DecodedToken>& tokens,
                            const ScoreRule& rule, const at::Tensor& sinks_h) {
    const at::Tensor q = q_nhd.contiguous(), sinks = sinks_h.defined() ? sinks_h.to(at::kFloat) : sinks_h;
    return q.is_cpu() ? on_cpu(q, keys_bksd, values_bksd, tokens, rule, sinks)
                      : by_library(q, keys_bksd, values_bksd, tokens, rule, sinks);
}

}  // namespace ringmaster
