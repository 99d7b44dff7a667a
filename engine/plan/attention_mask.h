/// What a position of one sequence may attend to: its own document, the past, a window. Pure integers.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/plan/spans.h"

namespace ringmaster {

/// A query at position p sees a key at position s of the same document when s <= p (causal) and |p − s| <
/// window. Positions from the last document's end on are padding: they see nothing and nobody sees them.
struct AttentionMask {
    std::vector<int64_t> documents;  ///< where each ends, ascending; empty: all positions are one document
    int64_t window = 0;              ///< 0: none
    bool causal = true;

    bool operator==(const AttentionMask&) const = default;
};

/// A document, and its number among the others.
struct DocumentRange {
    int64_t begin = 0;
    int64_t end = 0;

    int64_t size() const { return end - begin; }
    bool operator==(const DocumentRange&) const = default;
};

/// Of a sequence of `tokens` positions, empty ones left out; with no padding.
std::vector<DocumentRange> documents_of(const AttentionMask& mask, int64_t tokens);

/// The part of a span that lies in one document.
struct Piece {
    Span span;
    DocumentRange document;
};

/// `spans` cut at the documents' ends, in order; padding is left out.
std::vector<Piece> cut_by_documents(const Spans& spans, const AttentionMask& mask);

/// Cells of the mask in the rows of these positions: the attention work of who holds them. Where it is not
/// causal the mask has to name its documents.
int64_t visible_cells(const Piece& piece, const AttentionMask& mask);
int64_t visible_cells(const Spans& spans, const AttentionMask& mask);

/// Positions of the keys that queries at these positions see, as sorted stretches of step 1; some may lie in
/// between that no query of a strided span sees.
Spans visible_keys(const Spans& queries, const AttentionMask& mask);

/// Positions within their document of these positions; padding counts on from its last document's end.
std::vector<int64_t> positions_in_documents(const Spans& spans, const AttentionMask& mask);

}  // namespace ringmaster
