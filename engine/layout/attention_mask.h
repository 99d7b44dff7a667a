/// Defines which positions a query sees: those in its document (or the document that it continues) that are
/// not later than the query and lie within the window. Uses integers only.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/layout/spans.h"

namespace ringmaster {

/// A query at position p sees a key at position s of the same document if s <= p (causal) and |p − s| <
/// window. Positions after the end of the last document are padding: they see no key, and no query sees them.
struct AttentionMask {
    std::vector<int64_t> documents;  ///< ends of the documents, ascending; empty: a single document
    int64_t window = 0;              ///< tokens; 0: no window
    bool causal = true;
    /// For each document, the index of the earlier document that it continues; -1: none. Empty: no document
    /// continues another. Answers continue the prompt that they share: an answer's query also sees the
    /// prompt, as if the prompt came right before the answer. This requires a causal mask. A document that
    /// others continue must not itself continue another.
    std::vector<int64_t> continues = {};

    bool operator==(const AttentionMask&) const = default;
};

/// The positions of a document, [begin, end).
struct DocumentRange {
    int64_t begin = 0;
    int64_t end = 0;

    int64_t size() const { return end - begin; }
    bool operator==(const DocumentRange&) const = default;
};

/// Returns the documents among `tokens` positions, without empty ones and without padding.
std::vector<DocumentRange> documents_of(const AttentionMask& mask, int64_t tokens);

/// Returns the document that `document` continues; an empty range if there is none.
DocumentRange prompt_of(const DocumentRange& document, const AttentionMask& mask);

/// The part of a span that lies in one document.
struct Piece {
    Span span;
    DocumentRange document;
    DocumentRange prompt = {};  ///< the document that `document` continues; empty if there is none

    /// Returns this piece moved to the positions right after its prompt.
    Piece after_prompt() const {
        const int64_t back = document.begin - prompt.end;
        return {{span.begin - back, span.end - back, span.step}, prompt};
    }
};

/// Returns `spans` cut at the documents' ends, in order; padding is left out.
std::vector<Piece> cut_by_documents(const Spans& spans, const AttentionMask& mask);

/// Returns the number of mask cells in the rows of these positions, which is the attention work of the rank
/// that holds them. If the mask is not causal, it must name its documents.
int64_t visible_cells(const Piece& piece, const AttentionMask& mask);
int64_t visible_cells(const Spans& spans, const AttentionMask& mask);

/// Returns the positions of the keys that these queries see, as sorted stretches of step 1. With strided
/// spans the result may include keys that no query sees.
Spans visible_keys(const Spans& queries, const AttentionMask& mask);

/// Returns each position's index in its document. A document that continues a shared prompt counts on from
/// the prompt's last position; padding counts from the last document's end.
std::vector<int64_t> positions_in_documents(const Spans& spans, const AttentionMask& mask);

}  // namespace ringmaster
