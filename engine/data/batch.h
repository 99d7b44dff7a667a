/// Rows as one rank sees them: padded, labels shifted *before* sharding (the label at a shard's last token is
/// the next shard's first), cut by the layout. The packed rows of a micro-batch are one sequence of all their
/// documents, with the padding of all of them behind the last; other rows are a sequence each.
#pragma once

#include <cstdint>
#include <optional>
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

RowCounts count_rows(const std::vector<Row>& rows);

/// Length that a micro-batch's rows are padded to, before the layout's own padding: the longest row, or what
/// `padding` fixes.
int64_t batch_length(const std::vector<Row>& rows, const Padding& padding, int64_t sequence_len);

/// The sequences of a micro-batch before they are split, all of them alike.
struct BatchShape {
    int64_t tokens = 0;            ///< of one sequence, before the layout's own padding
    int64_t longest_document = 0;  ///< as far as positions go
    AttentionMask mask;            ///< without documents where rows are not packed
};

/// `window` is the model's sliding window, if any.
BatchShape batch_shape(const std::vector<Row>& rows, const Config& config, std::optional<int64_t> window);

/// One rank's share, row-major [rows, tokens of this rank].
struct BatchShard {
    int64_t rows = 0;
    std::vector<int64_t> input_ids;
    std::vector<int64_t> labels;  ///< shifted; -100 = none, on padding too
    std::vector<int64_t> places;  ///< of each token in the token file; -1: padding
    int64_t valid_labels = 0;
};

/// Rows padded to layout.tokens and cut to `context_rank`'s spans; with `as_one_sequence` one row of them
/// all.
BatchShard shard_rows(const std::vector<Row>& rows, const Layout& layout, int context_rank,
                      bool as_one_sequence = false);

}  // namespace ringmaster
