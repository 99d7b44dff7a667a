/// Runs the last step of the layout `balanced`: pairs of ranks redistribute their parts so that fewer keys
/// move. Only that layout uses this file.
#pragma once

#include "engine/layout/balanced_parts.h"

namespace ringmaster {

/// Redistributes the parts of pairs of ranks that share a document, with one cut, if they then read less and
/// neither has more work than `most_work`. Stops when no pair improves, or after a fixed number of tries.
void divide_pairs(std::vector<std::vector<DocumentPart>>& ranks, const AttentionMask& mask,
                  int64_t most_work);

}  // namespace ringmaster
