/// The layout `balanced`: documents of any mixture placed so that every rank has the same number of tokens
/// and the same attention work, and reads as few keys of others as that allows.
#pragma once

#include <vector>

#include "engine/plan/attention_mask.h"

namespace ringmaster {

/// What each of `ranks` ranks holds of `tokens` positions, sorted. Tokens differ by one at most.
///
/// A rank that holds queries of a document reads all keys before the last of them: what moves is the sum,
/// over ranks and documents, of how far into the document the rank reaches. So documents stay whole where
/// they can, and a long one is taken from its end, where a token's work is the most, by as few ranks as its
/// work fills; the shortest documents fill up those ranks' tokens. What is left of a document is a shorter
/// one. Then ranks that share a document divide what they hold anew: of all ways to assign the ten longest
/// parts and cut one, the one that moves least and gives none more work than the most has.
///
/// Where that moves more than a fifth of what a full ring moves, it is tried with up to 4.9 % more work than
/// the mean, and taken if it then moves less than that. Deterministic, in integers; the search is bounded.
/// Problem: MagiAttention (arXiv 2505.13211, section 3.2), which deals out chunks of equal size; here blocks
/// have the sizes that level both sums.
std::vector<Spans> balanced_spans(int64_t tokens, int ranks, const AttentionMask& mask);

}  // namespace ringmaster
