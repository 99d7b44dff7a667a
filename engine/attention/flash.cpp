#include "engine/attention/flash.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <cmath>

#include "engine/attention/block_attention.h"

namespace ringmaster {

namespace {

double scale_of(const at::Tensor& q_bhtd) { return 1 / std::sqrt(static_cast<double>(q_bhtd.size(3))); }

/// Our blocks share the work by key/value heads: not worth it for fewer of them than threads. LibTorch's kernel takes the rest.
bool takes_blocks(const at::Tensor& q_bhtd, const at::Tensor& k_bksd) {
    return q_bhtd.scalar_type() == at::kFloat && k_bksd.size(0) * k_bksd.size(1) >= at::get_num_threads();
}

FlashOutput cuda_forward(const at::Tensor& q_bhtd, const at::Tensor& k_bksd, const at::Tensor& v_bksd, bool causal) {
    auto [out_bthd, lse_bht, seed, offset, mask] =
        at::_flash_attention_forward(q_bhtd.transpose(1, 2), k_bksd.transpose(1, 2), v_bksd.transpose(1, 2), {}, {},
                                     q_bhtd.size(2), k_bksd.size(2), 0.0, causal, false, scale_of(q_bhtd));
    return {out_bthd.transpose(1, 2), lse_bht};
}

FlashGradients cuda_backward(const at::Tensor& dout_bhtd, const at::Tensor& q_bhtd, const at::Tensor& k_bksd,
                             const at::Tensor& v_bksd, const FlashOutput& whole, bool causal) {
    const at::Tensor no_dropout = at::zeros({}, q_bhtd.options().dtype(at::kLong));
    auto [dq, dk, dv] = at::_flash_attention_backward(
        dout_bhtd.transpose(1, 2), q_bhtd.transpose(1, 2), k_bksd.transpose(1, 2), v_bksd.transpose(1, 2),
        whole.out_bhtd.transpose(1, 2), whole.lse_bht, {}, {}, q_bhtd.size(2), k_bksd.size(2), 0.0, causal, no_dropout,
        no_dropout, scale_of(q_bhtd));
    return {dq.transpose(1, 2), dk.transpose(1, 2), dv.transpose(1, 2)};
}

}  // namespace

FlashOutput flash_forward(const at::Tensor& q_bhtd, const at::Tensor& k_bksd, const at::Tensor& v_bksd, bool causal) {
    if (q_bhtd.is_cuda()) return cuda_forward(q_bhtd, k_bksd, v_bksd, causal);
    auto [out, lse] = takes_blocks(q_bhtd, k_bksd)
                          ? block_attention_forward(q_bhtd, k_bksd, v_bksd, causal, scale_of(q_bhtd))
                          : at::_scaled_dot_product_flash_attention_for_cpu(q_bhtd, k_bksd, v_bksd, 0.0, causal, {},
                                                                            scale_of(q_bhtd));
    return {out, lse.contiguous()};  // LibTorch keeps it in B T H order
}

FlashGradients flash_backward(const at::Tensor& dout_bhtd, const at::Tensor& q_bhtd, const at::Tensor& k_bksd,
                              const at::Tensor& v_bksd, const FlashOutput& whole, bool causal) {
    if (q_bhtd.is_cuda()) return cuda_backward(dout_bhtd, q_bhtd, k_bksd, v_bksd, whole, causal);
    auto [dq, dk, dv] = takes_blocks(q_bhtd, k_bksd)
                            ? block_attention_backward(dout_bhtd, q_bhtd, k_bksd, v_bksd, whole.out_bhtd, whole.lse_bht,
                                                       causal, scale_of(q_bhtd))
                            : at::_scaled_dot_product_flash_attention_for_cpu_backward(
                                  dout_bhtd, q_bhtd, k_bksd, v_bksd, whole.out_bhtd, whole.lse_bht, 0.0, causal, {},
                                  scale_of(q_bhtd));
    return {dq, dk, dv};
}

}  // namespace ringmaster
