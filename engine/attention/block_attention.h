/// Float32 attention on the CPU over blocks of scores, by matrix products with the softmax between them: what
/// LibTorch's flash kernel computes, faster where rows are many. Forward beside backward.
///
/// Letters: B rows, H query heads, K key/value heads (H a multiple of K), T queries, S keys, D head_dim.
/// Source: Dao 2023, "FlashAttention-2", algorithms 1 and 2.
#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>

namespace ringmaster {

/// q_bhtd, k_bksd, v_bksd float32, last dim contiguous, other strides free. With `causal` query i sees keys j
/// <= i (T = S). Returns out [B, H, T, D] (memory in B T H D order) and lse [B, H, T] (natural log).
std::tuple<at::Tensor, at::Tensor> block_attention_forward(const at::Tensor& q_bhtd, const at::Tensor& k_bksd,
                                                           const at::Tensor& v_bksd, bool causal,
                                                           double scale);

/// out and lse may be those of more keys than these (the global ones of a ring). Returns dq, dk, dv, shaped
/// as q, k, v.
std::tuple<at::Tensor, at::Tensor, at::Tensor> block_attention_backward(
    const at::Tensor& dout_bhtd, const at::Tensor& q_bhtd, const at::Tensor& k_bksd, const at::Tensor& v_bksd,
    const at::Tensor& out_bhtd, const at::Tensor& lse_bht, bool causal, double scale);

}  // namespace ringmaster
