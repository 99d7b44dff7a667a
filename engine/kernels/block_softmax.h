/// What lies between the matrix products of an attention over blocks of scores, in float32, rows of `keys`
/// scores each. Exists for each instruction set.
///
/// Source: Milakov & Gimelshein 2018, "Online normalizer calculation for softmax"; Dao 2023,
/// "FlashAttention-2", section 3.1.
#pragma once

#include <cstdint>

namespace ringmaster {

/// Which keys a block's rows see: row r belongs to query r mod `queries` (heads of one group lie behind each
/// other), whose edge is `edge` + (r mod `queries`), held to [0, keys].
struct BlockMask {
    enum Sees { All, Below, From };  ///< every key; those below the edge; those from the edge on
    Sees sees = All;
    int64_t queries = 1;
    int64_t edge = 0;
};

struct BlockSoftmax {
    /// Scores become exp(score − new maximum), 0 where hidden; top and sum are brought up to the new maximum,
    /// `shrink` says by how much what was summed before must shrink. A row that saw no key yet has top
    /// −infinity.
    void (*forward)(float* scores, int64_t rows, int64_t keys, const BlockMask& mask, float* top, float* sum,
                    float* shrink);
    /// accumulated_rd *= shrink_r.
    void (*rescale)(float* accumulated, const float* shrink, int64_t rows, int64_t width);
    /// scores become probabilities exp(score − lse); dprobability becomes the scores' gradient
    /// probability · (dprobability − delta).
    void (*backward)(float* scores, float* dprobability, int64_t rows, int64_t keys, const BlockMask& mask,
                     const float* lse, const float* delta);
};

const BlockSoftmax& block_softmax();

}  // namespace ringmaster
