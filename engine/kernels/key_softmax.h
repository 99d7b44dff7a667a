/// What lies between the bfloat16 matrix products of an attention whose blocks of scores stand key by key: a
/// row to a key, a column to a query. So each product's right side is small and packed anew for a block of
/// queries, and keys and values are read as they lie. Exists for each instruction set.
///
/// Right sides are *panels*: kPanel columns at a time, rows in pairs, [columns / kPanel, rows / 2, kPanel,
/// 2]: the order that processors' bfloat16 products read. An odd last row's partner is zero.
///
/// Letters: S keys of the block, C columns (queries, then zeros up to a multiple of kPanel), D head_dim.
/// Source: as engine/kernels/block_softmax.h; probabilities and the scores' gradients are rounded to bfloat16
/// for the products that they enter, as in FlashAttention-2.
#pragma once

#include <cstdint>

#include "engine/kernels/block_softmax.h"
#include "engine/kernels/fused.h"

namespace ringmaster {

constexpr int64_t kPanel = 64;

constexpr int64_t panel_columns(int64_t columns) {
    return (columns + kPanel - 1) / kPanel * kPanel;
}
constexpr int64_t even(int64_t rows) {
    return rows + rows % 2;
}

struct KeyBlock {
    int64_t keys, columns;  ///< S, C
    int64_t queries;        ///< columns that are some head's query: a multiple of mask.queries
    BlockMask mask;         ///< its rows are our columns
    float scale;            ///< of the scores, which come without it
};

struct KeySoftmax {
    /// Scores [S, C] become panels of exp(scale · score − new maximum), 0 where hidden; top, sum and shrink
    /// [C] as in BlockSoftmax. The scores are used up.
    void (*forward)(float* scores, const KeyBlock& block, float* top, float* sum, float* shrink,
                    Bf16* panels);
    /// accumulated[D, C] *= shrink[C].
    void (*rescale)(float* accumulated, const float* shrink, int64_t rows, int64_t columns);
    /// Probabilities [S, C], the scores' gradient before the scale [S, C] and the same in panels. The scores
    /// are used up.
    void (*backward)(float* scores, const float* dprobability, const KeyBlock& block, const float* lse,
                     const float* delta, Bf16* probability, Bf16* dscores, Bf16* dscore_panels);
};

const KeySoftmax& key_softmax();

/// Panels of x [rows, columns], rows `stride` apart; columns beyond are zero.
void pack_rows(const Bf16* x, int64_t stride, int64_t rows, int64_t columns, Bf16* panels);
/// Panels of x's transpose: x [columns, rows], `rows` even.
void pack_transposed(const Bf16* x, int64_t stride, int64_t rows, int64_t columns, Bf16* panels);

/// C[M, N] = A[M, K] · B, or added to it, float32; B in panels, K even; A's rows a_stride and C's c_stride
/// apart.
using PanelProduct = void (*)(int64_t M, int64_t N, int64_t K, const Bf16* a, int64_t a_stride,
                              const Bf16* panels, float* c, int64_t c_stride, bool add);

/// The same for any processor: what the fast ones are held against.
void plain_panel_product(int64_t M, int64_t N, int64_t K, const Bf16* a, int64_t a_stride, const Bf16* panels,
                         float* c, int64_t c_stride, bool add);

}  // namespace ringmaster
