/// Counts the query-key pairs that the attention mask lets through, by arithmetic on the spans of queries and
/// keys.
#pragma once

#include "engine/layout/attention_mask.h"
#include "engine/layout/spans.h"

namespace ringmaster {

/// Return how many cells between queries and keys are visible, and how many keys some query sees (in each
/// document, from the first such key to the last). All spans must have the same step.
double cells_between(const Spans& queries, const Spans& keys, const AttentionMask& mask);
double keys_between(const Spans& queries, const Spans& keys, const AttentionMask& mask);
/// Returns the number of queries between the first key and the last position whose window contains a key,
/// both included.
double queries_between(const Spans& queries, const Spans& keys, int64_t window);

}  // namespace ringmaster
