/// Attention on the CPU over blocks of scores, by matrix products with the softmax between them: what
/// LibTorch's flash kernel computes, faster where rows are many. All sums are float32, and a result over some
/// keys is never rounded before those over others join it. bfloat16 is widened block by block on the way in;
/// where the processor has products of its own for it, key_block_attention.h takes its place. Slices of the
/// same keys go in one call. Forward beside backward.
///
/// Letters: B rows, H query heads, K key/value heads (H a multiple of K), T queries, S keys, D head_dim.
/// q_bhtd, k_bksd, v_bksd, dout_bhtd are float32 or bfloat16, last dim contiguous, other strides free. The
/// same result every time with as many threads. Source: Dao 2023, "FlashAttention-2", algorithms 1 and 2.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "engine/attention/score_rule.h"
#include "engine/plan/slices.h"

namespace ringmaster {

/// Of the blocks that an attention is cut into. The scores of one, rows × keys floats, stay in a core's
/// second-level cache.
struct BlockSizes {
    int64_t rows = 256;
    int64_t keys = 512;
};
/// Those that every call takes.
BlockSizes block_sizes();

/// Other sizes while it lives: short sequences then have blocks of every kind. One at a time, while no
/// attention is computed.
class ScopedBlockSizes {
  public:
    explicit ScopedBlockSizes(const BlockSizes& sizes);
    ~ScopedBlockSizes();
    ScopedBlockSizes(const ScopedBlockSizes&) = delete;
    ScopedBlockSizes& operator=(const ScopedBlockSizes&) = delete;
};

/// Of each query over the keys seen so far, float32.
struct SoftmaxSums {
    at::Tensor values_bhtd;  ///< Σ exp(score − top) · v; memory in B T H D order
    at::Tensor top_bht;      ///< the highest score; −infinity where no key was seen
    at::Tensor total_bht;    ///< Σ exp(score − top)
};

SoftmaxSums no_keys_seen(const at::Tensor& q_bhtd);

/// Adds the keys of `slices`, which are of q's T queries and k's S keys.
void block_attention_forward(SoftmaxSums& sums, const at::Tensor& q_bhtd, const at::Tensor& k_bksd,
                             const at::Tensor& v_bksd, const std::vector<Slice>& slices,
                             const ScoreRule& rule = {});

/// Adds a block of keys' part to dq_bhtd, dk_bksd and dv_bksd, float32. lse_bht is over *all* keys, and
/// delta_bht that of dout · out.
void block_attention_backward(at::Tensor dq_bhtd, at::Tensor dk_bksd, at::Tensor dv_bksd,
                              const at::Tensor& dout_bhtd, const at::Tensor& q_bhtd, const at::Tensor& k_bksd,
                              const at::Tensor& v_bksd, const at::Tensor& lse_bht,
                              const at::Tensor& delta_bht, const std::vector<Slice>& slices,
                              const ScoreRule& rule = {});

}  // namespace ringmaster
