/// Computes the softmax of attention one block of scores at a time, in float32. The caller computes the
/// matrix products before and after it. Each row of a block has `keys` scores. There is one version of each
/// function per instruction set.
///
/// Source: Milakov & Gimelshein 2018, "Online normalizer calculation for softmax"; Dao 2023,
/// "FlashAttention-2", section 3.1.
#pragma once

#include <cstdint>

namespace ringmaster {

/// Says which keys a block's rows see. Row r belongs to query r mod `queries` (the heads of a group follow
/// one another), and that query's edge is `edge` + (r mod `queries`), clamped to [0, keys].
struct BlockMask {
    /// A row sees every key (All), the keys below the edge (Below) or the keys from the edge on (From).
    enum Sees { All, Below, From };
    Sees sees = All;
    int64_t queries = 1;
    int64_t edge = 0;
};

struct BlockSoftmax {
    /// Replaces scores by exp(score − new maximum), or 0 if hidden, and updates top and sum to the new
    /// maximum. `shrink` receives the factor by which the caller must multiply earlier sums. The top of a row
    /// that has seen no key is −infinity.
    void (*forward)(float* scores, int64_t rows, int64_t keys, const BlockMask& mask, float* top, float* sum,
                    float* shrink);
    /// Computes accumulated_rd *= shrink_r.
    void (*rescale)(float* accumulated, const float* shrink, int64_t rows, int64_t width);
    /// Replaces scores by probabilities exp(score − lse), and dprobability by the scores' gradient,
    /// probability · (dprobability − delta).
    void (*backward)(float* scores, float* dprobability, int64_t rows, int64_t keys, const BlockMask& mask,
                     const float* lse, const float* delta);
};

const BlockSoftmax& block_softmax();

}  // namespace ringmaster
