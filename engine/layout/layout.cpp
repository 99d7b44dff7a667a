#include "engine/layout/layout.h"

#include <algorithm>
#include <string>

#include "engine/error.h"
#include "engine/layout/balanced_layout.h"

namespace ringmaster {

namespace {

/// Returns the first token of part `part` of `parts` parts, which are as equal as possible.
int64_t part_begin(int64_t tokens, int64_t part, int64_t parts) {
    return tokens / parts * part + std::min(part, tokens % parts);
}

Span part_of(int64_t tokens, int64_t part, int64_t parts) {
    return {part_begin(tokens, part, parts), part_begin(tokens, part + 1, parts)};
}

Spans contiguous_share(int64_t tokens, int rank, int ranks) {
    return {part_of(tokens, rank, ranks)};
}

Spans stripe_share(int64_t tokens, int rank, int ranks) {
    if (rank >= tokens) return {};
    return {span_of(rank, (tokens - rank + ranks - 1) / ranks, ranks)};
}

Spans zigzag_share(int64_t tokens, int rank, int ranks) {
    Spans share;
    append_span(share, part_of(tokens, rank, 2 * ranks));
    append_span(share, part_of(tokens, 2 * ranks - 1 - rank, 2 * ranks));
    return share;
}

/// Returns the documents, and the padding after them as one more document.
std::vector<DocumentRange> stretches(const AttentionMask& mask, int64_t tokens) {
    std::vector<DocumentRange> all = documents_of(mask, tokens);
    const int64_t end = all.empty() ? 0 : all.back().end;
    if (end < tokens) all.push_back({end, tokens});
    return all;
}

/// Computes the sizes of a document's parts. Surplus tokens go to the ranks in turn, across
/// documents.
class Dealer {
  public:
    explicit Dealer(int ranks) : sizes_(static_cast<size_t>(ranks)) {}

    const std::vector<int64_t>& deal(int64_t tokens) {
        const auto ranks = static_cast<int64_t>(sizes_.size());
        std::fill(sizes_.begin(), sizes_.end(), tokens / ranks);
        for (int64_t over = tokens % ranks; over > 0; --over, next_ = (next_ + 1) % ranks) {
            ++sizes_[static_cast<size_t>(next_)];
        }
        return sizes_;
    }

  private:
    std::vector<int64_t> sizes_;
    int64_t next_ = 0;
};

std::vector<Spans> varlen_ring_shares(int64_t tokens, int ranks, const AttentionMask& mask) {
    std::vector<Spans> shares(static_cast<size_t>(ranks));
    Dealer dealer(ranks);
    for (const DocumentRange& document : stretches(mask, tokens)) {
        int64_t at = document.begin;
        const std::vector<int64_t>& sizes = dealer.deal(document.size());
        for (size_t rank = 0; rank < sizes.size(); at += sizes[rank++]) {
            append_span(shares[rank], {at, at + sizes[rank]});
        }
    }
    return shares;
}

std::vector<Spans> varlen_zigzag_shares(int64_t tokens, int ranks, const AttentionMask& mask) {
    std::vector<Spans> shares(static_cast<size_t>(ranks));
    Dealer dealer(ranks);
    for (const DocumentRange& document : stretches(mask, tokens)) {
        int64_t low = document.begin, high = document.end;
        const std::vector<int64_t>& sizes = dealer.deal(document.size());
        for (size_t rank = 0; rank < sizes.size(); ++rank) {
            const int64_t first = (sizes[rank] + 1) / 2, second = sizes[rank] - first;
            append_span(shares[rank], {low, low + first});
            append_span(shares[rank], {high - second, high});
            low += first;
            high -= second;
        }
    }
    return shares;
}

/// Returns each ring rank's spans before they are divided among its Ulysses group.
std::vector<Spans> ring_shares(RingAttnFunc func, int64_t tokens, int ring, const AttentionMask& mask) {
    if (func == RingAttnFunc::VarlenRing) return varlen_ring_shares(tokens, ring, mask);
    if (func == RingAttnFunc::VarlenZigzag) return varlen_zigzag_shares(tokens, ring, mask);
    if (func == RingAttnFunc::Balanced) return balanced_spans(tokens, ring, mask);
    std::vector<Spans> shares;
    for (int rank = 0; rank < ring; ++rank) {
        shares.push_back(func == RingAttnFunc::BatchZigzag   ? zigzag_share(tokens, rank, ring)
                         : func == RingAttnFunc::BatchStripe ? stripe_share(tokens, rank, ring)
                                                             : contiguous_share(tokens, rank, ring));
    }
    return shares;
}

/// Returns the mask of a stretch of the sequence, with positions counted from the stretch's beginning.
AttentionMask mask_within(const AttentionMask& mask, const Span& stretch) {
    AttentionMask inner;
    inner.window = mask.window;
    inner.causal = mask.causal;
    for (const int64_t end : mask.documents) {
        if (end > stretch.begin && (inner.documents.empty() || inner.documents.back() < stretch.size()))
            inner.documents.push_back(std::min(end, stretch.end) - stretch.begin);
    }
    return inner;
}

/// Appends to each rank's spans its share of a stretch of the sequence.
void deal(RingAttnFunc func, const Span& stretch, int ring, int ulysses, const AttentionMask& mask,
          std::vector<Spans>& ranks) {
    size_t rank = 0;
    for (const Spans& share : ring_shares(func, stretch.size(), ring, mask)) {
        const int64_t held = count_tokens(share);
        for (int u = 0; u < ulysses; ++u, ++rank) {
            for (const Span& span :
                 cut(share, part_begin(held, u, ulysses), part_begin(held, u + 1, ulysses)))
                append_span(ranks[rank], {span.begin + stretch.begin, span.end + stretch.begin, span.step});
        }
    }
}

[[noreturn]] void refuse_length(RingAttnFunc func, int64_t tokens, int ring, int ulysses, int64_t multiple) {
    throw Error(Failure::Refused, Code("PLAN-LAYOUT"),
                std::to_string(tokens) + " tokens cannot be laid out as " + to_string(func) + " over " +
                    std::to_string(ring) + " × " + std::to_string(ulysses) + " ranks",
                "sequence_len", "a multiple of " + std::to_string(multiple) + " can");
}

}  // namespace

std::vector<int64_t> chunk_bounds(int64_t tokens, int64_t chunks) {
    std::vector<int64_t> bounds;
    for (int64_t chunk = 0; chunk <= chunks; ++chunk) bounds.push_back(part_begin(tokens, chunk, chunks));
    return bounds;
}

int64_t causal_cells(const Spans& spans) {
    return visible_cells(spans, {});
}

int64_t Layout::tokens_of(int rank) const {
    return count_tokens(ranks.at(rank));
}

int64_t length_multiple(RingAttnFunc func, int ring, int ulysses, bool has_chunks) {
    const int64_t size = int64_t{ring} * ulysses;
    if (func == RingAttnFunc::BatchZigzag) return 2 * size;
    return has_chunks || func == RingAttnFunc::BatchRing || func == RingAttnFunc::BatchStripe ? size : 1;
}

int64_t padded_length(RingAttnFunc func, int64_t length, int ring, int ulysses, bool has_chunks) {
    const int64_t multiple = length_multiple(func, ring, ulysses, has_chunks);
    return (length + multiple - 1) / multiple * multiple;
}

Layout make_layout(RingAttnFunc func, int64_t tokens, int ring, int ulysses) {
    const int64_t multiple = length_multiple(func, ring, ulysses);
    if (tokens <= 0 || tokens % multiple != 0) refuse_length(func, tokens, ring, ulysses, multiple);
    return make_layout(func, tokens, ring, ulysses, {});
}

Layout make_layout(RingAttnFunc func, int64_t tokens, int ring, int ulysses, const AttentionMask& mask,
                   int64_t chunks) {
    if (func == RingAttnFunc::Default || func == RingAttnFunc::Auto) {
        throw Error(Failure::Refused, Code("PLAN-LAYOUT"),
                    std::string(to_string(func)) + " names no layout of its own", "ring_attn_func");
    }
    const int64_t size = int64_t{ring} * ulysses;
    Layout layout{tokens, std::vector<Spans>(static_cast<size_t>(size))};
    if (chunks <= 1) {
        deal(func, {0, tokens}, ring, ulysses, mask, layout.ranks);
        return layout;
    }
    const int64_t multiple = length_multiple(func, ring, ulysses, true);
    if (tokens <= 0 || tokens % multiple != 0) refuse_length(func, tokens, ring, ulysses, multiple);
    layout.chunk_bounds = chunk_bounds(tokens / multiple, std::min(chunks, tokens / multiple));
    for (int64_t& bound : layout.chunk_bounds) bound *= multiple / size;
    for (size_t chunk = 0; chunk < layout.chunks(); ++chunk) {
        const Span stretch{layout.chunk_bounds[chunk] * size, layout.chunk_bounds[chunk + 1] * size};
        deal(func, stretch, ring, ulysses, mask_within(mask, stretch), layout.ranks);
        for (size_t rank = 0; rank < layout.ranks.size(); ++rank) {
            if (layout.tokens_of(static_cast<int>(rank)) != layout.chunk_bounds[chunk + 1])
                throw Error(Failure::Refused, Code("PLAN-LAYOUT"),
                            std::string(to_string(func)) + " deals out chunks unequally", "ring_attn_func");
        }
    }
    return layout;
}

Spans chunk_spans(const Layout& layout, size_t chunk, int ring_rank, int ulysses) {
    Spans joined;
    for (int u = 0; u < ulysses; ++u) {
        const Spans& whole = layout.ranks.at(static_cast<size_t>(ring_rank * ulysses + u));
        const Spans part = layout.chunks() == 1
                               ? whole
                               : cut(whole, layout.chunk_bounds.at(chunk), layout.chunk_bounds.at(chunk + 1));
        for (const Span& span : part) append_span(joined, span);
    }
    return joined;
}

Spans ring_spans(const Layout& layout, int ring_rank, int ulysses) {
    Spans joined;
    for (size_t chunk = 0; chunk < layout.chunks(); ++chunk) {
        for (const Span& span : chunk_spans(layout, chunk, ring_rank, ulysses)) append_span(joined, span);
    }
    return joined;
}

}  // namespace ringmaster
