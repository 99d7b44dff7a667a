/// What lies between the matrix products of an attention over blocks of scores, in float32, rows of `keys` scores each.
/// A causal block's row i sees its first `visible + i` keys (at least none, at most all). Exists for each instruction set.
///
/// Source: Milakov & Gimelshein 2018, "Online normalizer calculation for softmax"; Dao 2023, "FlashAttention-2", section 3.1.
#pragma once

#include <cstdint>

namespace ringmaster {

/// Which keys a block's rows see: row r belongs to query r mod `queries` (heads of one group lie behind each other) and sees
/// keys below first_visible + (r mod queries); `all` where every row sees every key.
struct BlockMask {
    bool all = true;
    int64_t queries = 1;
    int64_t first_visible = 0;
};

struct BlockSoftmax {
    /// Scores become exp(score − new maximum); top and sum are brought up to the new maximum, `shrink` says by how much what was
    /// summed before must shrink.
    void (*forward)(float* scores, int64_t rows, int64_t keys, const BlockMask& mask, float* top, float* sum, float* shrink);
    /// accumulated_rd *= shrink_r.
    void (*rescale)(float* accumulated, const float* shrink, int64_t rows, int64_t width);
    /// scores become probabilities exp(score − lse); dprobability becomes the scores' gradient
    /// probability · (dprobability − delta) · scale.
    void (*backward)(float* scores, float* dprobability, int64_t rows, int64_t keys, const BlockMask& mask, const float* lse,
                     const float* delta, float scale);
    /// Joins a block's result into the running one by their log-sum-exp: both are rows of `width`, lse −infinity where no key was
    /// seen yet. Order of blocks matters to rounding only.
    void (*merge)(float* out, int64_t out_stride, float* lse, const float* block_out, int64_t block_stride,
                  const float* block_lse, int64_t rows, int64_t width);
};

const BlockSoftmax& block_softmax();

}  // namespace ringmaster
