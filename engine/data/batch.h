/// Rows as one rank sees them: padded, labels shifted *before* sharding (the label at a shard's last token is
/// the next shard's first), cut by the layout.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/config/config.h"
#include "engine/data/tokens.h"
#include "engine/plan/layout.h"

namespace ringmaster {

/// Global counts of a step's rows, the same on every rank without asking anyone.
struct RowCounts {
    int64_t tokens = 0;  ///< without padding
    int64_t valid_labels = 0;
};

RowCounts count_rows(const TokenFile& file, const std::vector<int64_t>& rows);

/// Length that a micro-batch's rows are padded to, before the layout's own padding: the longest row, or what
/// `padding` fixes.
int64_t batch_length(const TokenFile& file, const std::vector<int64_t>& rows, const Padding& padding,
                     int64_t sequence_len);

/// One rank's share, row-major [rows, tokens of this rank].
struct BatchShard {
    int64_t rows = 0;
    std::vector<int64_t> input_ids;
    std::vector<int64_t> labels;  ///< shifted; -100 = none, on padding too
    int64_t valid_labels = 0;
};

/// Rows padded to layout.tokens and cut to `context_rank`'s spans.
BatchShard shard_rows(const TokenFile& file, const std::vector<int64_t>& rows, const Layout& layout,
                      int context_rank);

}  // namespace ringmaster
