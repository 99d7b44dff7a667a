/// Finds the prompts that several documents of a micro-batch have in common: both answers of a preference
/// pair, or a group of rollouts. Such a prompt is computed once, as a document that its answers continue
/// (AttentionMask::continues).
///
/// The last token of the prompt stays with each answer, because the first token of the answer is its label.
/// The shared tokens thus have the same labels in all documents, or none, and losses and gradients are those
/// of whole documents.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/data/tokens.h"
#include "engine/layout/attention_mask.h"

namespace ringmaster {

/// Locates tokens [from, to) of a document of a micro-batch; the first of them lies at `at` in the sequence.
struct PlacedTokens {
    size_t document = 0;
    int64_t from = 0, to = 0;
    int64_t at = 0;

    bool operator==(const PlacedTokens&) const = default;
};

/// Describes the sequence that all documents of a micro-batch form if some share a prompt.
struct SharedPrompts {
    std::vector<PlacedTokens> parts;  ///< in the sequence's order; empty: no two documents share a prompt
    AttentionMask mask;               ///< documents of the sequence, and what they continue
    /// For each document of the micro-batch, `shared` is the number of its first tokens that are stored with
    /// another document, and `holder` is the index of that document.
    std::vector<int64_t> shared;
    std::vector<size_t> holder;

    bool any() const { return !parts.empty(); }
    int64_t tokens() const { return any() ? mask.documents.back() : 0; }
    /// Returns the place of a document's token in the sequence.
    int64_t place_of(size_t document, int64_t token) const;
};

/// Returns the shared prompts of `documents`. If `learns_prompt` (ORPO), the prompts of documents 0, 2, …
/// have labels, and each of these documents keeps its own prompt.
SharedPrompts share_prompts(const std::vector<Row>& documents, bool learns_prompt);

/// Returns the documents of `rows`, in order.
std::vector<Row> documents_of_rows(const std::vector<Row>& rows);

}  // namespace ringmaster
