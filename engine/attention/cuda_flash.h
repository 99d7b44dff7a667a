/// CUDA's attention kernels, with the log-sum-exp. The CPU's are engine/attention/block_attention.h.
///
/// A run repeated is the same to the last bit: no gradient is added up by atomics, which takes longer
/// (engine/attention/deterministic.h says how to do without).
///
/// Letters: B rows, H query heads, K key/value heads (H a multiple of K), T queries, S keys, D head_dim.
#pragma once

#include <ATen/core/Tensor.h>

#include "engine/attention/flash_tensors.h"
#include "engine/attention/packed_attention.h"

namespace ringmaster {

/// Takes half precisions and scales scores by `scale` (0: D^-1/2). Runs cuDNN's attention if the run chose it
/// and it can (cudnn_attention.h), else LibTorch's FlashAttention-2, which takes any segments, documents and
/// windows, grouped heads, head dims up to 256 that are multiples of 8. Its deterministic backward keeps
/// several float32 copies of dq: long queries go in blocks that keep those below 2 GiB.
FlashKernel cuda_flash_kernel(double scale = 0);

/// float32, by the memory-efficient kernel: one square or rectangle a call. `causal`: query i sees keys j <=
/// i (T = S). Last dim contiguous, other strides free; scores are scaled by `scale` (0: D^-1/2).
FlashOutput float_flash_forward(const at::Tensor& q_bhtd, const at::Tensor& k_bksd, const at::Tensor& v_bksd,
                                bool causal, double scale = 0);

/// `out` and `lse` are those over *all* keys: a block's gradient then is its part of the whole's.
FlashGradients float_flash_backward(const at::Tensor& dout_bhtd, const at::Tensor& q_bhtd,
                                    const at::Tensor& k_bksd, const at::Tensor& v_bksd,
                                    const FlashOutput& whole, bool causal, double scale = 0);

}  // namespace ringmaster
