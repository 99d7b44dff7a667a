#include "engine/attention/cuda_flash.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>

#include "engine/attention/cudnn_attention.h"
#include "engine/attention/deterministic.h"
#include "engine/attention/score_rule.h"
#include "engine/comm/backends.h"
#include "engine/layout/flash_blocks.h"

namespace ringmaster {

namespace {

double scale_of(const FlashInputs& in) {
    return ScoreRule{in.scale, 0}.scale_of(in.q);
}

std::optional<int64_t> bound(int64_t width) {
    return width == FlashWindow::kNone ? std::nullopt : std::optional(width);
}

std::optional<at::Tensor> given(const at::Tensor& ends) {
    return ends.defined() ? std::optional(ends) : std::nullopt;
}

FlashArguments arguments_of(const FlashInputs& in) {
    return in.packed() ? flash_arguments(in.window, false, in.most_queries, in.most_keys)
                       : flash_arguments(in.window, true, in.q.size(1), in.k.size(1));
}

/// Returns the result of `compute`, or nullopt if cuDNN refuses a shape that was not tried at the start.
/// After a refusal, this rank uses FlashAttention-2, which changes results by no more than rounding.
template <typename Compute>
std::optional<std::invoke_result_t<Compute>> or_flash(const Compute& compute, const char* direction) {
    try {
        return compute();
    } catch (const c10::Error& error) {
        TORCH_WARN("cuDNN's attention ", direction,
                   " failed, FlashAttention-2 takes its place: ", error.what_without_backtrace());
        use_cudnn({});
        return {};
    }
}

FlashKernel::Output half_forward(const FlashInputs& in) {
    if (cudnn_in_use().forward && cudnn_takes(in)) {
        if (auto output = or_flash([&] { return cudnn_forward(in); }, "forward")) return *output;
    }
    const FlashArguments with = arguments_of(in);
    auto [out, lse, seed, offset, mask] = at::_flash_attention_forward(
        in.q, in.k, in.v, given(in.query_ends), given(in.key_ends), with.max_queries, with.max_keys, 0.0,
        with.causal, false, scale_of(in), bound(with.left), bound(with.right));
    return {out, lse};
}

FlashKernel::Gradients half_backward(const FlashInputs& in, const at::Tensor& dout,
                                     const FlashKernel::Output& whole) {
    if (cudnn_in_use().backward && cudnn_takes(in)) {
        if (auto gradients = or_flash([&] { return cudnn_backward(in, dout, whole); }, "backward"))
            return *gradients;
    }
    const Deterministic in_order(cuda_is_deterministic());
    const FlashArguments with = arguments_of(in);
    const at::Tensor no_dropout = at::zeros({}, in.q.options().dtype(at::kLong));
    auto [dq, dk, dv] = at::_flash_attention_backward(dout, in.q, in.k, in.v, whole.out, whole.lse,
                                                      in.query_ends, in.key_ends, with.max_queries,
                                                      with.max_keys, 0.0, with.causal, no_dropout, no_dropout,
                                                      scale_of(in), bound(with.left), bound(with.right));
    return {dq, dk, dv};
}

int64_t queries_at_once(const at::Tensor& q_bhtd) {
    if (!cuda_is_deterministic()) return q_bhtd.size(2);
    return flash_blocks(q_bhtd.size(0) * q_bhtd.size(1), q_bhtd.size(3)).queries_at_once;
}

int64_t heads_at_once(const at::Tensor& q_bhtd, int64_t group) {
    if (cuda_is_deterministic()) return q_bhtd.size(1);
    return query_heads_at_once(q_bhtd.size(0) * q_bhtd.size(2), q_bhtd.size(1), group);
}

/// Asserts that scores are not capped: attention_family() chooses other kernels for models that cap them.
void check_no_cap(const ScoreRule& rule) {
    TORCH_INTERNAL_ASSERT(rule.softcap == 0, "LibTorch's attention kernels for GPUs cannot cap scores");
}

int64_t multiprocessors(const at::Tensor& q_bhtd) {
    if (!cuda_is_deterministic() || !q_bhtd.is_cuda()) return 0;
    static const int64_t count = cuda_multiprocessors(q_bhtd.device().index());
    return count;
}

}  // namespace

FlashKernel cuda_flash_kernel(const ScoreRule& rule) {
    check_no_cap(rule);
    const auto scaled = [scale = rule.scale](FlashInputs in) {
        in.scale = scale;
        return in;
    };
    return {[=](const FlashInputs& in) { return half_forward(scaled(in)); },
            [=](const FlashInputs& in, const at::Tensor& dout, const FlashKernel::Output& whole) {
                return half_backward(scaled(in), dout, whole);
            },
            queries_at_once, heads_at_once, multiprocessors};
}

/// Repeats the key heads, because the kernel does not group heads, and trims its lse, which is padded to a
/// multiple of 32.
FlashOutput float_flash_forward(const at::Tensor& q_bhtd, const at::Tensor& k_bksd, const at::Tensor& v_bksd,
                                bool causal, const ScoreRule& rule) {
    check_no_cap(rule);
    const int64_t group = q_bhtd.size(1) / k_bksd.size(1);
    auto [out, lse, seed, offset] = at::_scaled_dot_product_efficient_attention(
        q_bhtd, k_bksd.repeat_interleave(group, 1), v_bksd.repeat_interleave(group, 1), {}, true, 0.0, causal,
        rule.scale_of(q_bhtd));
    return {out, lse.narrow(2, 0, q_bhtd.size(2))};
}

FlashGradients float_flash_backward(const at::Tensor& dout_bhtd, const at::Tensor& q_bhtd,
                                    const at::Tensor& k_bksd, const at::Tensor& v_bksd,
                                    const FlashOutput& whole, bool causal, const ScoreRule& rule) {
    check_no_cap(rule);
    constexpr int64_t kMultiple = 32;
    const int64_t group = q_bhtd.size(1) / k_bksd.size(1), queries = q_bhtd.size(2);
    const int64_t padding = (queries + kMultiple - 1) / kMultiple * kMultiple - queries;
    const at::Tensor lse =
        at::constant_pad_nd(whole.lse_bht, {0, padding}, std::numeric_limits<double>::infinity());
    const at::Tensor no_dropout = at::zeros({}, at::kLong);
    const at::Tensor k = k_bksd.repeat_interleave(group, 1), v = v_bksd.repeat_interleave(group, 1);
    const Deterministic in_order(cuda_is_deterministic());
    auto [dq, dk, dv, dbias] = at::_scaled_dot_product_efficient_attention_backward(
        dout_bhtd, q_bhtd, k, v, {}, whole.out_bhtd, lse, no_dropout, no_dropout, 0.0,
        {true, true, true, false}, causal, rule.scale_of(q_bhtd));
    auto summed = [&](const at::Tensor& x_bhsd) {
        return x_bhsd.unflatten(1, {k_bksd.size(1), group}).sum(2);
    };
    return {dq, summed(dk), summed(dv)};
}

}  // namespace ringmaster
