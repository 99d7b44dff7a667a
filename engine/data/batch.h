/// Prepares rows for one rank: pads them, shifts labels *before* sharding (the label of a shard's last token
/// is the next shard's first token) and cuts them by the layout. The packed rows of a micro-batch form one
/// sequence of all their documents with all padding at the end, and so do rows that share prompts; other rows
/// are one sequence each.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/config/sequences_per_row.h"
#include "engine/data/shared_prompts.h"
#include "engine/data/tokens.h"
#include "engine/layout/layout.h"

namespace ringmaster {

/// Counts over all rows of a step; every rank computes the same counts without communication.
struct RowCounts {
    int64_t tokens = 0;  ///< without padding
    int64_t valid_labels = 0;
};

RowCounts count_rows(const std::vector<Row>& rows);

/// Returns the length that a micro-batch's rows are padded to, before the layout's own padding: the length
/// that `padding` fixes, else the longest row's.
int64_t batch_length(const std::vector<Row>& rows, const Padding& padding, int64_t sequence_len);

/// Describes the sequences of a micro-batch before they are split over ranks; all have the same shape.
struct BatchShape {
    int64_t tokens = 0;            ///< length of one sequence before the layout's own padding
    int64_t padded_row = 0;        ///< what `tokens` would be if no prompt were shared
    int64_t longest_document = 0;  ///< highest position + 1
    AttentionMask mask;            ///< has no documents if each row is a sequence
    SharedPrompts prompts = {};    ///< if rows share prompts, all rows form one sequence

    /// Returns whether all rows are one sequence.
    bool joins_rows(const Config& config) const { return config.sample_packing || prompts.any(); }
};

/// Returns the shape. `window` is the model's sliding window, if any. With `shares_prompts`, a prompt that
/// several documents have in common occurs once, and only the layout adds padding.
BatchShape batch_shape(const std::vector<Row>& rows, const Config& config, std::optional<int64_t> window,
                       bool shares_prompts);

/// Return the segment that holds the labels of a document's completion, or of its prompt if that is trained
/// too. Documents are numbered within the micro-batch. If each label is a segment, pass the label's number
/// instead.
inline int32_t segment_of_completion(size_t document) {
    return static_cast<int32_t>(2 * document);
}
inline int32_t segment_of_prompt(size_t document) {
    return static_cast<int32_t>(2 * document + 1);
}

/// Holds one rank's share of a micro-batch, row-major [rows, tokens of this rank].
struct BatchShard {
    int64_t rows = 0;
    std::vector<int64_t> input_ids;
    std::vector<int64_t> labels;    ///< shifted; -100: no label, also on padding
    std::vector<int64_t> places;    ///< index of each token in the token file; -1: padding
    std::vector<int32_t> segments;  ///< the segment of each label; -1: no label
    int64_t valid_labels = 0;       ///< valid labels of completions
};

/// Selects which labels' losses are summed: those of each document's completion, those of the prompts of
/// chosen documents too, or none, because each label is a segment of its own.
enum class Segments { Completions, ChosenPromptsToo, Labels };

/// Returns the rows padded to layout.tokens and cut to `context_rank`'s spans; `as_one_sequence` joins all
/// rows into one, in which each of `prompts` occurs once. With Segments::ChosenPromptsToo, the prompts of
/// documents 0, 2, … get labels.
BatchShard shard_rows(const std::vector<Row>& rows, const Layout& layout, int context_rank,
                      bool as_one_sequence = false, Segments segments = Segments::Completions,
                      const SharedPrompts& prompts = {});

/// Returns a step's rows as the sequences that are computed: the two documents of an unpacked pair are
/// separate rows.
std::vector<Row> sequences_of(const Config& config, const std::vector<Row>& rows);

}  // namespace ringmaster
