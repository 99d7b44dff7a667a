/// Computes the softmax of attention with bfloat16 matrix products. A block of scores has one row per key and
/// one column per query. The products therefore read keys and values in place, and only their small
/// right-hand operands are packed again for each block of queries. There is one version of each function per
/// instruction set.
///
/// Right-hand operands are stored as *panels*: kPanel columns at a time, rows in pairs, [columns / kPanel,
/// rows / 2, kPanel, 2]. This is the order in which processors' bfloat16 products read them. An odd last row
/// is paired with zeros.
///
/// Letters: S keys of the block, C columns (queries, then zeros up to a multiple of kPanel), D head_dim. The
/// sources are those of engine/kernels/block_softmax.h. Probabilities and the scores' gradients are rounded
/// to bfloat16 for the products that they enter, as in FlashAttention-2.
#pragma once

#include <cstdint>

#include "engine/kernels/block_softmax.h"
#include "engine/kernels/fused.h"
#include "engine/piece_sizes.h"

namespace ringmaster {

using pieces::kPanel;

constexpr int64_t panel_columns(int64_t columns) {
    return (columns + kPanel - 1) / kPanel * kPanel;
}
constexpr int64_t even(int64_t rows) {
    return rows + rows % 2;
}

struct KeyBlock {
    int64_t keys, columns;  ///< S, C
    int64_t queries;        ///< number of columns that hold queries, a multiple of mask.queries
    BlockMask mask;         ///< rows of the mask are columns here
    float scale;            ///< scale to apply to the scores
};

struct KeySoftmax {
    /// Turns scores [S, C] into panels of exp(scale · score − new maximum), 0 if hidden; updates top, sum and
    /// shrink [C] as in BlockSoftmax. Overwrites the scores.
    void (*forward)(float* scores, const KeyBlock& block, float* top, float* sum, float* shrink,
                    Bf16* panels);
    /// Computes accumulated[D, C] *= shrink[C].
    void (*rescale)(float* accumulated, const float* shrink, int64_t rows, int64_t columns);
    /// Writes probabilities [S, C], the scores' gradient before the scale [S, C], and the same gradient in
    /// panels. Overwrites the scores.
    void (*backward)(float* scores, const float* dprobability, const KeyBlock& block, const float* lse,
                     const float* delta, Bf16* probability, Bf16* dscores, Bf16* dscore_panels);
};

const KeySoftmax& key_softmax();

/// Packs x [rows, columns], rows `stride` apart, into panels; columns beyond the last are zero.
void pack_rows(const Bf16* x, int64_t stride, int64_t rows, int64_t columns, Bf16* panels);
/// Packs the transpose of x [columns, rows] into panels; `rows` is even.
void pack_transposed(const Bf16* x, int64_t stride, int64_t rows, int64_t columns, Bf16* panels);

/// Computes C[M, N] = A[M, K] · B, or adds it to C, in float32. B is in panels, K is even; rows of A are
/// a_stride apart and rows of C c_stride.
using PanelProduct = void (*)(int64_t M, int64_t N, int64_t K, const Bf16* a, int64_t a_stride,
                              const Bf16* panels, float* c, int64_t c_stride, bool add);

/// Computes the product on any processor; the fast products are compared with it.
void plain_panel_product(int64_t M, int64_t N, int64_t K, const Bf16* a, int64_t a_stride, const Bf16* panels,
                         float* c, int64_t c_stride, bool add);

}  // namespace ringmaster
