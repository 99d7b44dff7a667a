/// What a layout makes of documents and window: tokens and attention work of each ring rank, and the keys
/// that come to it from the others.
#pragma once

#include <vector>

#include "engine/plan/layout.h"

namespace ringmaster {

/// Of one ring rank (the ranks of a Ulysses group together).
struct RankFigures {
    int64_t tokens = 0;
    int64_t cells = 0;     ///< of the mask, in its queries' rows
    int64_t received = 0;  ///< keys (with their values) of other ranks that its queries see
};

struct LayoutFigures {
    std::vector<RankFigures> ranks;

    double token_balance() const;   ///< largest ÷ mean; 1 is level
    double work_balance() const;    ///< largest ÷ mean; 1 where there is no work
    int64_t received() const;       ///< by all ranks
    int64_t most_received() const;  ///< by one
};

LayoutFigures layout_figures(const Layout& layout, int ulysses, const AttentionMask& mask);

/// Seconds that one token, one cell and one received key cost a rank.
struct LayoutCosts {
    double token_s = 0;
    double cell_s = 0;
    double key_s = 0;
};

/// What `ring_attn_func: auto` picks for these documents: the layout whose slowest rank is done first, where
/// keys come while it computes and a tenth of their time is never hidden; of equals the first of
/// batch_zigzag, varlen_llama3, varlen_zigzag, balanced.
RingAttnFunc choose_layout(int64_t tokens, int ring, int ulysses, const AttentionMask& mask,
                           const LayoutCosts& costs);

}  // namespace ringmaster
