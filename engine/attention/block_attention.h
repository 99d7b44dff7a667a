/// Computes attention on the CPU over blocks of scores: matrix products with the softmax between them. The
/// results are those of LibTorch's flash kernel, computed faster if there are many rows. All sums are
/// float32, and partial results are never rounded before they are merged. bfloat16 inputs are widened to
/// float32 block by block as they are read; processors with bfloat16 products use key_block_attention.h
/// instead. One call takes all slices that read the same keys.
///
/// Letters: B rows, H query heads, K key/value heads (H a multiple of K), T queries, S keys, D head_dim.
/// q_bhtd, k_bksd, v_bksd, dout_bhtd are float32 or bfloat16, last dim contiguous, other strides free. With
/// the same number of threads, equal inputs give equal bits. Source: Dao 2023, "FlashAttention-2", algorithms
/// 1 and 2.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "engine/attention/score_rule.h"
#include "engine/layout/slices.h"
#include "engine/piece_sizes.h"

namespace ringmaster {

/// Gives the size of a block of scores. One block, rows × keys floats, fits in a core's second-level cache.
struct BlockSizes {
    int64_t rows = pieces::kScoreRows;
    int64_t keys = pieces::kScoreKeys;
};
/// Returns the sizes that every call uses.
BlockSizes block_sizes();

/// Sets other sizes for its lifetime, so that short sequences have blocks of every kind (for tests). Only one
/// object may exist at a time, and none may be made or destroyed while attention is computed.
class ScopedBlockSizes {
  public:
    explicit ScopedBlockSizes(const BlockSizes& sizes);
    ~ScopedBlockSizes();
    ScopedBlockSizes(const ScopedBlockSizes&) = delete;
    ScopedBlockSizes& operator=(const ScopedBlockSizes&) = delete;
};

/// Holds the softmax state of each query over the keys seen so far, in float32.
struct SoftmaxSums {
    at::Tensor values_bhtd;  ///< Σ exp(score − top) · v; memory in B T H D order
    at::Tensor top_bht;      ///< highest score; −infinity if no key was seen
    at::Tensor total_bht;    ///< Σ exp(score − top)
};

SoftmaxSums no_keys_seen(const at::Tensor& q_bhtd);  ///< returns the sums before the first key

/// Adds the keys of `slices` to `sums`. Slices index q's T queries and k's S keys.
void block_attention_forward(SoftmaxSums& sums, const at::Tensor& q_bhtd, const at::Tensor& k_bksd,
                             const at::Tensor& v_bksd, const std::vector<Slice>& slices,
                             const ScoreRule& rule = {});

/// Adds the gradients of a block of keys to dq_bhtd, dk_bksd and dv_bksd, which are float32. lse_bht is over
/// *all* keys, and delta_bht is the row sum of dout · out.
void block_attention_backward(at::Tensor dq_bhtd, at::Tensor dk_bksd, at::Tensor dv_bksd,
                              const at::Tensor& dout_bhtd, const at::Tensor& q_bhtd, const at::Tensor& k_bksd,
                              const at::Tensor& v_bksd, const at::Tensor& lse_bht,
                              const at::Tensor& delta_bht, const std::vector<Slice>& slices,
                              const ScoreRule& rule = {});

}  // namespace ringmaster
