/// Measures a layout for given documents and window: each ring rank's tokens, its attention work, and the
/// keys that it receives from other ranks.
#pragma once

#include <vector>

#include "engine/layout/layout.h"

namespace ringmaster {

/// Figures of one ring rank (the ranks of a Ulysses group together).
struct RankFigures {
    int64_t tokens = 0;
    int64_t cells = 0;     ///< mask cells in the rows of the rank's queries
    int64_t received = 0;  ///< keys (with values) of other ranks that the rank's queries see
};

std::vector<RankFigures> layout_figures(const Layout& layout, int ulysses, const AttentionMask& mask);

/// Seconds that a token, a cell and a received key each cost a rank.
struct LayoutCosts {
    double token_s = 0;
    double cell_s = 0;
    double key_s = 0;
};

/// Returns the layout that `ring_attn_func: auto` picks for these documents: the layout whose slowest rank
/// finishes first. The estimate hides the transfer of keys behind computation, except for a tenth of its
/// time. Among equals the first wins: batch_zigzag, varlen_llama3, varlen_zigzag, balanced.
RingAttnFunc choose_layout(int64_t tokens, int ring, int ulysses, const AttentionMask& mask,
                           const LayoutCosts& costs);

}  // namespace ringmaster
