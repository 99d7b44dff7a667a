#include "engine/attention/cuda_flash.h"

#include <ATen/ATen.h>

#include <cmath>
#include <limits>

namespace ringmaster {

namespace {

double scale_of(const at::Tensor& q_bhtd) {
    return 1 / std::sqrt(static_cast<double>(q_bhtd.size(3)));
}

/// The flash kernels of CUDA take half precisions only; for float32 there is the memory-efficient one, which
/// knows neither grouped heads nor a log-sum-exp of any length but multiples of 32.
FlashOutput float_forward(const at::Tensor& q_bhtd, const at::Tensor& k_bksd, const at::Tensor& v_bksd,
                          bool causal) {
    const int64_t group = q_bhtd.size(1) / k_bksd.size(1);
    auto [out, lse, seed, offset] = at::_scaled_dot_product_efficient_attention(
        q_bhtd, k_bksd.repeat_interleave(group, 1), v_bksd.repeat_interleave(group, 1), {}, true, 0.0, causal,
        scale_of(q_bhtd));
    return {out, lse.narrow(2, 0, q_bhtd.size(2))};
}

FlashGradients float_backward(const at::Tensor& dout_bhtd, const at::Tensor& q_bhtd, const at::Tensor& k_bksd,
                              const at::Tensor& v_bksd, const FlashOutput& whole, bool causal) {
    constexpr int64_t kMultiple = 32;
    const int64_t group = q_bhtd.size(1) / k_bksd.size(1), queries = q_bhtd.size(2);
    const int64_t padding = (queries + kMultiple - 1) / kMultiple * kMultiple - queries;
    const at::Tensor lse =
        at::constant_pad_nd(whole.lse_bht, {0, padding}, std::numeric_limits<double>::infinity());
    const at::Tensor no_dropout = at::zeros({}, at::kLong);
    auto [dq, dk, dv, dbias] = at::_scaled_dot_product_efficient_attention_backward(
        dout_bhtd, q_bhtd, k_bksd.repeat_interleave(group, 1), v_bksd.repeat_interleave(group, 1), {},
        whole.out_bhtd, lse, no_dropout, no_dropout, 0.0, {true, true, true, false}, causal,
        scale_of(q_bhtd));
    auto summed = [&](const at::Tensor& x_bhsd) {
        return x_bhsd.unflatten(1, {k_bksd.size(1), group}).sum(2);
    };
    return {dq, summed(dk), summed(dv)};
}

}  // namespace

FlashOutput flash_forward(const at::Tensor& q_bhtd, const at::Tensor& k_bksd, const at::Tensor& v_bksd,
                          bool causal) {
    if (q_bhtd.scalar_type() == at::kFloat) return float_forward(q_bhtd, k_bksd, v_bksd, causal);
    auto [out_bthd, lse_bht, seed, offset, mask] = at::_flash_attention_forward(
        q_bhtd.transpose(1, 2), k_bksd.transpose(1, 2), v_bksd.transpose(1, 2), {}, {}, q_bhtd.size(2),
        k_bksd.size(2), 0.0, causal, false, scale_of(q_bhtd));
    return {out_bthd.transpose(1, 2), lse_bht};
}

FlashGradients flash_backward(const at::Tensor& dout_bhtd, const at::Tensor& q_bhtd, const at::Tensor& k_bksd,
                              const at::Tensor& v_bksd, const FlashOutput& whole, bool causal) {
    if (q_bhtd.scalar_type() == at::kFloat)
        return float_backward(dout_bhtd, q_bhtd, k_bksd, v_bksd, whole, causal);
    const at::Tensor no_dropout = at::zeros({}, q_bhtd.options().dtype(at::kLong));
    const at::Tensor lse_bht = whole.lse_bht.contiguous();  // the kernel asks for no strides of it
    auto [dq, dk, dv] = at::_flash_attention_backward(
        dout_bhtd.transpose(1, 2), q_bhtd.transpose(1, 2), k_bksd.transpose(1, 2), v_bksd.transpose(1, 2),
        whole.out_bhtd.transpose(1, 2), lse_bht, {}, {}, q_bhtd.size(2), k_bksd.size(2), 0.0, causal,
        no_dropout, no_dropout, scale_of(q_bhtd));
    return {dq.transpose(1, 2), dk.transpose(1, 2), dv.transpose(1, 2)};
}

}  // namespace ringmaster
