/// The last step of the layout `balanced`: pairs of ranks that move fewer keys when they share anew. Used by
/// it alone.
#pragma once

#include "engine/plan/balanced_parts.h"

namespace ringmaster {

/// Two ranks that share a document divide what they hold anew, with one cut, where they read less then and
/// neither has more work than `most_work`; until no two do, or enough was tried.
void divide_pairs(std::vector<std::vector<DocumentPart>>& ranks, const AttentionMask& mask,
                  int64_t most_work);

}  // namespace ringmaster
