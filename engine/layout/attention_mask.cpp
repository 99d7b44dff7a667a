#include "engine/layout/attention_mask.h"

#include <algorithm>

namespace ringmaster {

namespace {

constexpr int64_t kEverything = int64_t{1} << 60;

/// Returns Σ min(reach, limit) over the positions. A position's reach is its distance to the document's edge,
/// counting the position itself; it grows by `step` from one position to the next.
int64_t sum_of_reaches(int64_t first_reach, int64_t count, int64_t step, int64_t limit) {
    const int64_t below = std::clamp<int64_t>((limit - first_reach + step) / step, 0, count);
    const int64_t whole = limit < first_reach ? 0 : below;
    return whole * first_reach + step * whole * (whole - 1) / 2 + (count - whole) * limit;
}

/// Returns the number of keys that the piece's queries see at or before themselves.
int64_t cells_behind(const Piece& piece, int64_t window) {
    const int64_t before = piece.prompt.size(), all = before + piece.document.size();
    const int64_t limit = window > 0 ? std::min(window, all) : all;
    return sum_of_reaches(before + piece.span.begin - piece.document.begin + 1, piece.span.size(),
                          piece.span.step, limit);
}

/// Returns the global position that has index 0 in the document that ends at `end`, or in the padding.
int64_t first_position(std::vector<int64_t>::const_iterator end, const AttentionMask& mask) {
    const int64_t begin = end == mask.documents.begin() ? 0 : *(end - 1);
    return end == mask.documents.end() ? begin : begin - prompt_of({begin, *end}, mask).size();
}

Piece mirrored(const Piece& piece) {
    const int64_t begin = piece.document.begin + piece.document.end - 1 - piece.span.last();
    return {span_of(begin, piece.span.size(), piece.span.step), piece.document};
}

}  // namespace

std::vector<DocumentRange> documents_of(const AttentionMask& mask, int64_t tokens) {
    if (mask.documents.empty()) return {{0, tokens}};
    std::vector<DocumentRange> all;
    int64_t begin = 0;
    for (const int64_t end : mask.documents) {
        if (end > begin) all.push_back({begin, end});
        begin = std::max(begin, end);
    }
    return all;
}

DocumentRange prompt_of(const DocumentRange& document, const AttentionMask& mask) {
    if (mask.continues.empty()) return {};
    const auto end = std::lower_bound(mask.documents.begin(), mask.documents.end(), document.end);
    const int64_t index = mask.continues[static_cast<size_t>(end - mask.documents.begin())];
    if (index < 0) return {};
    const auto prompt = static_cast<size_t>(index);
    return {prompt == 0 ? 0 : mask.documents[prompt - 1], mask.documents[prompt]};
}

std::vector<Piece> cut_by_documents(const Spans& spans, const AttentionMask& mask) {
    std::vector<Piece> pieces;
    if (mask.documents.empty()) {
        for (const Span& span : spans) {
            if (span.size() > 0) pieces.push_back({span, {0, kEverything}});
        }
        return pieces;
    }
    for (const Span& span : spans) {
        int64_t at = span.begin;
        auto end = std::upper_bound(mask.documents.begin(), mask.documents.end(), at);
        while (at < span.end && end != mask.documents.end()) {
            const int64_t begin = end == mask.documents.begin() ? 0 : *(end - 1);
            const int64_t until = std::min(*end, span.end);
            const int64_t count = (until - at + span.step - 1) / span.step;
            const DocumentRange document{begin, *end};
            pieces.push_back({span_of(at, count, span.step), document, prompt_of(document, mask)});
            at += count * span.step;
            end = std::upper_bound(end, mask.documents.end(), at);
        }
    }
    return pieces;
}

int64_t visible_cells(const Piece& piece, const AttentionMask& mask) {
    const int64_t behind = cells_behind(piece, mask.window);
    return mask.causal ? behind : behind + cells_behind(mirrored(piece), mask.window) - piece.span.size();
}

int64_t visible_cells(const Spans& spans, const AttentionMask& mask) {
    int64_t cells = 0;
    for (const Piece& piece : cut_by_documents(spans, mask)) cells += visible_cells(piece, mask);
    return cells;
}

Spans visible_keys(const Spans& queries, const AttentionMask& mask) {
    const int64_t reach = mask.window > 0 ? mask.window - 1 : kEverything / 2;
    Spans seen;
    for (const Piece& piece : cut_by_documents(queries, mask)) {
        if (piece.prompt.size() > 0)
            seen.push_back(
                {std::max(piece.prompt.begin, piece.after_prompt().span.begin - reach), piece.prompt.end});
        seen.push_back({std::max(piece.document.begin, piece.span.begin - reach),
                        mask.causal ? piece.span.last() + 1
                                    : std::min(piece.document.end, piece.span.last() + 1 + reach)});
    }
    std::sort(seen.begin(), seen.end(), [](const Span& a, const Span& b) { return a.begin < b.begin; });
    Spans keys;
    for (Span& span : seen) {
        if (!keys.empty()) span.begin = std::max(span.begin, keys.back().end);
        if (span.begin < span.end) append_span(keys, span);
    }
    return keys;
}

std::vector<int64_t> positions_in_documents(const Spans& spans, const AttentionMask& mask) {
    std::vector<int64_t> positions;
    positions.reserve(static_cast<size_t>(count_tokens(spans)));
    for (const Span& span : spans) {
        auto end = std::upper_bound(mask.documents.begin(), mask.documents.end(), span.begin);
        int64_t first = first_position(end, mask);
        for (int64_t at = span.begin; at < span.end; at += span.step) {
            const bool leaves = end != mask.documents.end() && *end <= at;
            while (end != mask.documents.end() && *end <= at) ++end;
            if (leaves) first = first_position(end, mask);
            positions.push_back(at - first);
        }
    }
    return positions;
}

}  // namespace ringmaster
