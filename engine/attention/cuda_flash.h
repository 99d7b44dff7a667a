/// CUDA's attention kernels behind one face: a block of queries against a block of keys, with the
/// log-sum-exp. The CPU's are engine/attention/block_attention.h.
///
/// Letters: B rows, H query heads, K key/value heads (H a multiple of K), T queries, S keys, D head_dim.
#pragma once

#include <ATen/core/Tensor.h>

namespace ringmaster {

struct FlashOutput {
    at::Tensor out_bhtd;  ///< the inputs' dtype
    at::Tensor lse_bht;   ///< float32, natural log
};

struct FlashGradients {
    at::Tensor dq_bhtd;  ///< the inputs' dtype
    at::Tensor dk_bksd;
    at::Tensor dv_bksd;
};

/// Last dim contiguous, other strides free; scores are scaled by D^-1/2. `causal`: query i sees keys j <= i
/// (T = S).
FlashOutput flash_forward(const at::Tensor& q_bhtd, const at::Tensor& k_bksd, const at::Tensor& v_bksd,
                          bool causal);

/// `out` and `lse` are those over *all* keys: a block's gradient then is its part of the whole's.
FlashGradients flash_backward(const at::Tensor& dout_bhtd, const at::Tensor& q_bhtd, const at::Tensor& k_bksd,
                              const at::Tensor& v_bksd, const FlashOutput& whole, bool causal);

}  // namespace ringmaster
