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

template <typename Of>
double largest_over_mean(const std::vector<RankFigures>& ranks, Of of) {
    double largest = 0, sum = 0;
    for (const RankFigures& rank : ranks) {
        largest = std::max(largest, double(of(rank)));
        sum += double(of(rank));
    }
    return sum > 0 ? largest * double(ranks.size()) / sum : 1;
}

/// The part of the keys' time that computation never hides, because copying the keys takes time from it.
constexpr double kNeverHidden = 0.1;

double slowest_s(const LayoutFigures& figures, const LayoutCosts& costs) {
    double slowest = 0;
    for (const RankFigures& rank : figures.ranks) {
        const double attention = costs.cell_s * double(rank.cells);
        const double keys = costs.key_s * double(rank.received);
        slowest = std::max(
            slowest, costs.token_s * double(rank.tokens) + std::max(attention, keys) + kNeverHidden * keys);
    }
    return slowest;
}

}  // namespace

double LayoutFigures::token_balance() const {
    return largest_over_mean(ranks, [](const RankFigures& rank) { return rank.tokens; });
}

double LayoutFigures::work_balance() const {
    return largest_over_mean(ranks, [](const RankFigures& rank) { return rank.cells; });
}

int64_t LayoutFigures::received() const {
    int64_t sum = 0;
    for (const RankFigures& rank : ranks) sum += rank.received;
    return sum;
}

int64_t LayoutFigures::most_received() const {
    int64_t most = 0;
    for (const RankFigures& rank : ranks) most = std::max(most, rank.received);
    return most;
}

LayoutFigures layout_figures(const Layout& layout, int ulysses, const AttentionMask& mask) {
    LayoutFigures figures;
    const int ring = static_cast<int>(layout.ranks.size()) / ulysses;
    for (int rank = 0; rank < ring; ++rank) {
        const Spans own = ring_spans(layout, rank, ulysses);
        figures.ranks.push_back({count_tokens(own), visible_cells(own, mask), keys_of_others(own, mask)});
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
