#include "engine/plan/layout.h"

#include <algorithm>
#include <string>

#include "engine/error.h"

namespace ringmaster {

namespace {

/// `count` positions from `begin` on; the end is just behind the last one.
Span span_of(int64_t begin, int64_t count, int64_t step) {
    return {begin, begin + (count - 1) * step + 1, step};
}

int64_t last_position(const Span& span) {
    return span.begin + (span.size() - 1) * span.step;
}

/// Local tokens [from, to) of `spans`.
Spans cut(const Spans& spans, int64_t from, int64_t to) {
    Spans part;
    int64_t offset = 0;
    for (const Span& span : spans) {
        const int64_t first = std::max(from - offset, int64_t{0});
        const int64_t last = std::min(to - offset, span.size());
        if (first < last) part.push_back(span_of(span.begin + first * span.step, last - first, span.step));
        offset += span.size();
    }
    return part;
}

/// What one ring rank holds, before it is divided among the ranks of its Ulysses group.
Spans ring_share(RingAttnFunc func, int64_t tokens, int ring_rank, int ring) {
    if (func == RingAttnFunc::BatchRing) {
        return {span_of(ring_rank * (tokens / ring), tokens / ring, 1)};
    }
    if (func == RingAttnFunc::BatchStripe) return {span_of(ring_rank, tokens / ring, ring)};
    const int64_t chunk = tokens / (2 * ring);
    const Span low = span_of(ring_rank * chunk, chunk, 1);
    const Span high = span_of((2 * ring - 1 - ring_rank) * chunk, chunk, 1);
    if (low.end == high.begin) return {{low.begin, high.end, 1}};
    return {low, high};
}

void require_known(RingAttnFunc func) {
    if (func == RingAttnFunc::BatchRing || func == RingAttnFunc::BatchZigzag ||
        func == RingAttnFunc::BatchStripe)
        return;
    throw Error(Failure::Refused, std::string(to_string(func)) + " has no fixed layout of a whole sequence",
                "ring_attn_func", "batch_ring, batch_zigzag and batch_stripe have one");
}

}  // namespace

int64_t count_tokens(const Spans& spans) {
    int64_t count = 0;
    for (const Span& span : spans) count += span.size();
    return count;
}

int64_t causal_cells(const Spans& spans) {
    int64_t cells = 0;
    for (const Span& span : spans) cells += span.size() * (span.begin + last_position(span) + 2) / 2;
    return cells;
}

int64_t Layout::tokens_of(int rank) const {
    return count_tokens(ranks.at(rank));
}

int64_t length_multiple(RingAttnFunc func, int ring, int ulysses) {
    const int64_t size = int64_t{ring} * ulysses;
    return func == RingAttnFunc::BatchZigzag ? 2 * size : size;
}

int64_t padded_length(RingAttnFunc func, int64_t length, int ring, int ulysses) {
    const int64_t multiple = length_multiple(func, ring, ulysses);
    return (length + multiple - 1) / multiple * multiple;
}

Layout make_layout(RingAttnFunc func, int64_t tokens, int ring, int ulysses) {
    require_known(func);
    const int64_t multiple = length_multiple(func, ring, ulysses);
    if (tokens <= 0 || tokens % multiple != 0) {
        throw Error(Failure::Refused,
                    std::to_string(tokens) + " tokens cannot be laid out as " + to_string(func) + " over " +
                        std::to_string(ring) + " × " + std::to_string(ulysses) + " ranks",
                    "sequence_len", "a multiple of " + std::to_string(multiple) + " can");
    }
    const int64_t shard = tokens / (int64_t{ring} * ulysses);
    Layout layout{tokens, {}};
    layout.ranks.reserve(ring * ulysses);
    for (int ring_rank = 0; ring_rank < ring; ++ring_rank) {
        const Spans share = ring_share(func, tokens, ring_rank, ring);
        for (int u = 0; u < ulysses; ++u) layout.ranks.push_back(cut(share, u * shard, (u + 1) * shard));
    }
    return layout;
}

Spans ring_spans(const Layout& layout, int ring_rank, int ulysses) {
    Spans joined;
    for (int u = 0; u < ulysses; ++u) {
        for (const Span& span : layout.ranks.at(ring_rank * ulysses + u)) {
            const bool continues = !joined.empty() && joined.back().step == span.step &&
                                   last_position(joined.back()) + span.step == span.begin;
            if (continues) {
                joined.back().end = span.end;
            } else {
                joined.push_back(span);
            }
        }
    }
    return joined;
}

}  // namespace ringmaster
