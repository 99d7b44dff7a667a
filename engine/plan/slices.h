/// Which rectangles of the attention matrix between one rank's queries and one hop's keys are visible. Pure
/// integers.
///
/// What a query sees is engine/plan/attention_mask.h's to say. Coordinates of a slice are *local* indices: of
/// the queries' spans, and of the keys' spans. Source: AttnSlice of MagiAttention (arXiv 2505.13211, section
/// 3.1) reduced to the three masks that tile the rest.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/plan/attention_mask.h"
#include "engine/plan/layout.h"

namespace ringmaster {

enum class SliceMask {
    Full,    ///< every cell of the rectangle is visible
    Causal,  ///< a square; key j is visible to query i when j <= i, counted from the rectangle's corner
    InverseCausal,  ///< a square; key j is visible to query i when j >= i: the trailing edge of a window
};

struct Slice {
    int64_t query_begin = 0;
    int64_t query_end = 0;
    int64_t key_begin = 0;
    int64_t key_end = 0;
    SliceMask mask = SliceMask::Full;

    int64_t visible_cells() const;
    bool operator==(const Slice&) const = default;
};

/// The slices that tile, without overlap, what is visible between queries at `queries` and keys at `keys`;
/// neighbours are joined wherever the union is again a slice, so a rank's own block under zigzag is one
/// causal slice. Spans are sorted by position. Steps other than 1 must be equal on both sides.
std::vector<Slice> make_slices(const Spans& queries, const Spans& keys);

/// The same under any mask. No slice crosses a document's end; a window of w takes about 2·T ÷ w of them.
std::vector<Slice> make_slices(const Spans& queries, const Spans& keys, const AttentionMask& mask);

}  // namespace ringmaster
