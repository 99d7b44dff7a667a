/// Finds the visible rectangles of the attention matrix between one rank's queries and one hop's keys.
/// Uses integers only.
///
/// engine/layout/attention_mask.h defines what a query sees. A slice's coordinates are *local* indices into
/// the queries' spans and the keys' spans. Source: AttnSlice of MagiAttention (arXiv 2505.13211,
/// section 3.1), reduced to the three masks from which all others can be tiled.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/layout/attention_mask.h"
#include "engine/layout/layout.h"

namespace ringmaster {

enum class SliceMask {
    Full,           ///< every cell of the rectangle is visible
    Causal,         ///< a square; query i sees key j if j <= i, counted from the rectangle's corner
    InverseCausal,  ///< a square; query i sees key j if j >= i: the trailing edge of a window
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

/// Returns slices that tile the visible cells between `queries` and `keys` without overlap. Neighbours are
/// joined if their union is a slice, so a rank's own block under zigzag is one causal slice. Spans must be
/// sorted by position; steps other than 1 must be equal on both sides. No slice crosses the end of a
/// document, except from a prompt into the first answer that follows it. A window of w takes about 2·T ÷ w
/// slices.
std::vector<Slice> make_slices(const Spans& queries, const Spans& keys, const AttentionMask& mask = {});

}  // namespace ringmaster
