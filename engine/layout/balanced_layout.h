/// Computes the layout `balanced`: it places documents of any lengths so that every rank has the same number
/// of tokens and the same attention work, and reads as few keys of other ranks as that allows.
#pragma once

#include <vector>

#include "engine/layout/attention_mask.h"

namespace ringmaster {

/// Returns the sorted positions that each of `ranks` ranks holds. Token counts differ by at most one.
///
/// A rank that holds queries of a document reads all keys before the last of these queries, so its traffic
/// grows with how far into the document it reaches. The total traffic is the sum of this reach over ranks and
/// documents. Documents therefore stay whole if possible. A long document is cut from its end, where a token
/// has the most work, for as few ranks as this work fills. The shortest documents supply the tokens that
/// these ranks still lack, and the rest of the long document is treated as a shorter document. Then pairs of
/// ranks that share a document redistribute their parts: they assign the ten longest parts again and cut one
/// of them, so that as few keys as possible move and the highest work of a rank does not grow.
///
/// If this moves more than a fifth of a full ring's traffic, the search runs again with up to 4.9 % more work
/// than the mean. The second result is taken if it moves less than that fifth. The search is bounded and uses
/// integers, so it is deterministic. The problem is that of MagiAttention (arXiv 2505.13211, section 3.2),
/// which distributes chunks of equal size; here block sizes are chosen to even out tokens and work.
std::vector<Spans> balanced_spans(int64_t tokens, int ranks, const AttentionMask& mask);

}  // namespace ringmaster
