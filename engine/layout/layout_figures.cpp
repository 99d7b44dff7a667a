#include "engine/layout/layout_figures.h"

#include <algorithm>
#include <limits>

namespace ringmaster {

namespace {

/// Returns how many visible keys the rank does not hold; every query sees its own key. For strided layouts
/// this may include keys between queries that no query sees.
int64_t keys_of_others(const Spans& own, const AttentionMask& mask) {
    int64_t held = 0;
    for (const Piece& piece : cut_by_documents(own, mask)) held += piece.span.size();
    return count_tokens(visible_keys(own, mask)) - held;
}

/// The part of the keys' transfer time that computation never hides, because copying the keys slows
/// computation down.
constexpr double kNeverHidden = 0.1;

double slowest_s(const std::vector<RankFigures>& figures, const LayoutCosts& costs) {
    double slowest = 0;
    for (const RankFigures& rank : figures) {
        const double attention = costs.cell_s * double(rank.cells);
        const double keys = costs.key_s * double(rank.received);
        slowest = std::max(
            slowest, costs.token_s * double(rank.tokens) + std::max(attention, keys) + kNeverHidden * keys);
    }
    return slowest;
}

}  // namespace

std::vector<RankFigures> layout_figures(const Layout& layout, int ulysses, const AttentionMask& mask) {
    std::vector<RankFigures> figures;
    const int ring = static_cast<int>(layout.ranks.size()) / ulysses;
    for (int rank = 0; rank < ring; ++rank) {
        const Spans own = ring_spans(layout, rank, ulysses);
        figures.push_back({count_tokens(own), visible_cells(own, mask), keys_of_others(own, mask)});
    }
    return figures;
}

RingAttnFunc choose_layout(int64_t tokens, int ring, int ulysses, const AttentionMask& mask,
                           const LayoutCosts& costs) {
    RingAttnFunc best = RingAttnFunc::BatchZigzag;
    double least = std::numeric_limits<double>::infinity();
    for (const RingAttnFunc func : {RingAttnFunc::BatchZigzag, RingAttnFunc::VarlenLlama3,
                                    RingAttnFunc::VarlenZigzag, RingAttnFunc::Balanced}) {
        const Layout layout =
            make_layout(func, padded_length(func, tokens, ring, ulysses), ring, ulysses, mask);
        const double seconds = slowest_s(layout_figures(layout, ulysses, mask), costs);
        if (seconds >= 0.999 * least) continue;
        least = seconds;
        best = func;
    }
    return best;
}

}  // namespace ringmaster
