#include "engine/layout/stretches.h"

#include <algorithm>

#include "engine/error.h"

namespace ringmaster {

namespace {

struct Found {
    Stretch stretch;
    int64_t document = 0;  ///< position at which the stretch's document begins
};

void add_piece(std::vector<Found>& found, const Piece& piece, int rank, int64_t first) {
    if (!found.empty()) {
        Found& last = found.back();
        const bool goes_on = last.stretch.rank == rank && last.document == piece.document.begin &&
                             last.stretch.end == piece.span.begin;
        if (goes_on) {
            last.stretch.end = piece.span.end;
            return;
        }
    }
    found.push_back({{rank, first, piece.span.begin, piece.span.end}, piece.document.begin});
}

void add_rank(std::vector<Found>& found, const Spans& spans, int rank, const AttentionMask& mask) {
    int64_t held = 0;
    for (const Span& span : spans) {
        if (span.step != 1 && span.size() > 1)
            throw Error(Failure::Refused, Code("PLAN-LAYOUT"),
                        "a layer that passes a state from token to token needs consecutive tokens",
                        "ring_attn_func");
        const Span run{span.begin, span.begin + span.size()};
        for (const Piece& piece : cut_by_documents({run}, mask))
            add_piece(found, piece, rank, held + piece.span.begin - span.begin);
        held += span.size();
    }
}

}  // namespace

Stretches stretches_of(const Layout& layout, const AttentionMask& mask) {
    std::vector<Found> found;
    for (size_t rank = 0; rank < layout.ranks.size(); ++rank)
        add_rank(found, layout.ranks[rank], static_cast<int>(rank), mask);
    std::sort(found.begin(), found.end(),
              [](const Found& a, const Found& b) { return a.stretch.begin < b.stretch.begin; });
    Stretches stretches;
    stretches.ranks = static_cast<int>(layout.ranks.size());
    std::vector<int64_t> sent(layout.ranks.size()), received(layout.ranks.size());
    for (size_t i = 0; i < found.size(); ++i) {
        Stretch stretch = found[i].stretch;
        const auto rank = static_cast<size_t>(stretch.rank);
        stretch.has_before = i > 0 && found[i - 1].document == found[i].document;
        stretch.has_after = i + 1 < found.size() && found[i + 1].document == found[i].document;
        if (stretch.has_after) stretch.sent = sent[rank]++;
        if (stretch.has_before) stretch.received = received[rank]++;
        stretches.all.push_back(stretch);
    }
    for (size_t rank = 0; rank < sent.size(); ++rank) {
        stretches.most_sent = std::max(stretches.most_sent, sent[rank]);
        stretches.most_received = std::max(stretches.most_received, received[rank]);
    }
    return stretches;
}

}  // namespace ringmaster
