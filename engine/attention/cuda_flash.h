/// Calls CUDA's attention kernels, which also return the log-sum-exp; engine/attention/block_attention.h has
/// the CPU's kernels. With RINGMASTER_CUDA_DETERMINISTIC=1 no gradient is summed with atomics, so that a
/// repeated run gives the same bits; this takes longer. engine/layout/deterministic.h reads the switch, and
/// engine/attention/deterministic.h makes the kernels obey it.
///
/// Letters: B rows, H query heads, K key/value heads (H a multiple of K), T queries, S keys, D head_dim.
#pragma once

#include <ATen/core/Tensor.h>

#include "engine/attention/flash_tensors.h"
#include "engine/attention/packed_attention.h"
#include "engine/attention/score_rule.h"

namespace ringmaster {

/// Returns a kernel for half precisions. The rule may not cap scores: no kernel of this file can cap them. If
/// the run chose cuDNN and cuDNN can run the call, the kernel runs cuDNN's attention; otherwise it runs
/// LibTorch's FlashAttention-2. FlashAttention-2 takes any segments, documents, windows and grouped heads,
/// and head dims that are multiples of 8 up to 256. FlashAttention-2's deterministic backward pass keeps
/// several float32 copies of dq; it computes blocks of queries so that the copies take at most 2 GiB.
FlashKernel cuda_flash_kernel(const ScoreRule& rule = {});

/// Computes attention over one square or rectangle of queries and keys in float32, with the memory-efficient
/// kernel. `causal`: query i sees keys j <= i (T = S). Last dim contiguous, other strides free; the rule may
/// not cap scores.
FlashOutput float_flash_forward(const at::Tensor& q_bhtd, const at::Tensor& k_bksd, const at::Tensor& v_bksd,
                                bool causal, const ScoreRule& rule = {});

/// Returns a block's part of the gradients: `out` and `lse` must be those over *all* keys.
FlashGradients float_flash_backward(const at::Tensor& dout_bhtd, const at::Tensor& q_bhtd,
                                    const at::Tensor& k_bksd, const at::Tensor& v_bksd,
                                    const FlashOutput& whole, bool causal, const ScoreRule& rule = {});

}  // namespace ringmaster
