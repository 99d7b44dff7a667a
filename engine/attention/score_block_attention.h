/// Computes attention on a GPU over blocks of scores with LibTorch's operations: batched matrix products over
/// all heads, with the softmax between them. It serves models that cap their scores, which LibTorch's fused
/// kernels for GPUs cannot do, and runs on any device. Nothing waits for the device, and nothing is added by
/// atomics, so equal inputs give equal bits.
///
/// Scores, softmax and all sums are float32. Products of 16-bit inputs are written in float32 without a
/// rounding in between. A partial result is never rounded before it is merged. Like FlashAttention-2, the
/// code rounds probabilities and the scores' gradients to the inputs' dtype for the products that they enter,
/// because the GPU multiplies 16-bit matrices many times as fast. Probabilities are summed before the
/// rounding.
///
/// Letters, shapes and contract are those of block_attention.h. Blocks are sized by
/// engine/layout/score_blocks.h. Source: Dao 2023, "FlashAttention-2", algorithms 1 and 2.
#pragma once

#include "engine/attention/block_attention.h"

namespace ringmaster {

/// Adds the keys of `slices` to `sums`. Slices index q's T queries and k's S keys.
void score_block_attention_forward(SoftmaxSums& sums, const at::Tensor& q_bhtd, const at::Tensor& k_bksd,
                                   const at::Tensor& v_bksd, const std::vector<Slice>& slices,
                                   const ScoreRule& rule);
/// Does the same in blocks of at most `most_scores` scores.
void score_block_attention_forward(SoftmaxSums& sums, const at::Tensor& q_bhtd, const at::Tensor& k_bksd,
                                   const at::Tensor& v_bksd, const std::vector<Slice>& slices,
                                   const ScoreRule& rule, int64_t most_scores);

/// Adds the gradients of a block of keys to dq_bhtd, dk_bksd and dv_bksd, which are float32. lse_bht is over
/// *all* keys, and delta_bht is the row sum of dout · out.
void score_block_attention_backward(at::Tensor dq_bhtd, at::Tensor dk_bksd, at::Tensor dv_bksd,
                                    const at::Tensor& dout_bhtd, const at::Tensor& q_bhtd,
                                    const at::Tensor& k_bksd, const at::Tensor& v_bksd,
                                    const at::Tensor& lse_bht, const at::Tensor& delta_bht,
                                    const std::vector<Slice>& slices, const ScoreRule& rule);
/// Does the same in blocks of at most `most_scores` scores.
void score_block_attention_backward(at::Tensor dq_bhtd, at::Tensor dk_bksd, at::Tensor dv_bksd,
                                    const at::Tensor& dout_bhtd, const at::Tensor& q_bhtd,
                                    const at::Tensor& k_bksd, const at::Tensor& v_bksd,
                                    const at::Tensor& lse_bht, const at::Tensor& delta_bht,
                                    const std::vector<Slice>& slices, const ScoreRule& rule,
                                    int64_t most_scores);

}  // namespace ringmaster
