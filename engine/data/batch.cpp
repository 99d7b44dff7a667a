#include "engine/data/batch.h"

#include <algorithm>

namespace ringmaster {

RowCounts count_rows(const std::vector<Row>& rows) {
    RowCounts counts;
    for (const Row& row : rows) {
        counts.tokens += row.tokens();
        counts.valid_labels += row.valid_labels();
    }
    return counts;
}

int64_t batch_length(const std::vector<Row>& rows, const Padding& padding, int64_t sequence_len) {
    if (padding.fixed_length) return *padding.fixed_length;
    if (padding.to_sequence_len) return sequence_len;
    int64_t longest = 0;
    for (const Row& row : rows) longest = std::max(longest, row.tokens());
    return longest;
}

BatchShape batch_shape(const std::vector<Row>& rows, const Config& config, std::optional<int64_t> window,
                       bool shares_prompts) {
    BatchShape shape;
    if (config.sample_packing) {
        int64_t held = 0;
        for (const Row& row : rows) {
            int64_t begin = 0;
            for (const int64_t end : row.document_ends) {
                shape.mask.documents.push_back(held + end);
                shape.longest_document = std::max(shape.longest_document, end - begin);
                begin = end;
            }
            held += begin;
            shape.tokens += batch_length({row}, config.padding, config.sequence_len);
        }
    } else {
        shape.tokens = batch_length(rows, config.padding, config.sequence_len);
        shape.longest_document = shape.tokens;
    }
    shape.padded_row = shape.tokens;
    if (shares_prompts)
        shape.prompts = share_prompts(documents_of_rows(rows), config.preference.learns_prompt());
    if (shape.prompts.any()) {
        shape.tokens = shape.prompts.tokens();
        shape.mask = shape.prompts.mask;
    }
    if (window && *window < shape.longest_document) shape.mask.window = *window;
    return shape;
}

namespace {

/// Holds a sequence before it is split over ranks: rows one after the other, then padding.
struct Sequence {
    std::vector<int64_t> input_ids, labels, places;
    std::vector<int32_t> segments;

    explicit Sequence(int64_t tokens)
        : input_ids(static_cast<size_t>(tokens)),
          labels(static_cast<size_t>(tokens), kNoLabel),
          places(static_cast<size_t>(tokens), -1),
          segments(static_cast<size_t>(tokens), -1) {}

    /// Puts tokens [from, to) of a document at `at`. `slot` is the document's number, or the number of its
    /// first label if each label is a segment.
    void put(const Row& document, const PlacedTokens& tokens, size_t slot, Segments rule) {
        const auto begin = static_cast<size_t>(tokens.from), end = static_cast<size_t>(tokens.to);
        const auto shift = static_cast<size_t>(document.label_shift), at = static_cast<size_t>(tokens.at);
        const bool with_prompt = rule == Segments::ChosenPromptsToo && slot % 2 == 0;
        for (size_t i = begin; i < end; ++i) {
            const size_t to = at + i - begin, label = i + shift;
            input_ids[to] = document.input_ids[i];
            places[to] = document.place + static_cast<int64_t>(i);
            if (label >= document.labels.size()) continue;
            const bool learned = document.labels[label] != kNoLabel;
            if (!learned && !with_prompt) continue;
            labels[to] = learned ? document.labels[label] : document.input_ids[label];
            segments[to] = learned ? segment_of_completion(slot) : segment_of_prompt(slot);
            if (rule == Segments::Labels) ++slot;
        }
    }
};

void add_share(BatchShard& shard, const Sequence& sequence, const Spans& spans) {
    for (const Span& span : spans) {
        for (int64_t at = span.begin; at < span.end; at += span.step) {
            shard.input_ids.push_back(sequence.input_ids[static_cast<size_t>(at)]);
            shard.labels.push_back(sequence.labels[static_cast<size_t>(at)]);
            shard.places.push_back(sequence.places[static_cast<size_t>(at)]);
            shard.segments.push_back(sequence.segments[static_cast<size_t>(at)]);
            shard.valid_labels += shard.segments.back() >= 0 && shard.segments.back() % 2 == 0;
        }
    }
}

/// Returns the index of each document's first slot. Each document has one slot, or one for each label if
/// labels are segments.
std::vector<size_t> first_slots(const std::vector<Row>& documents, Segments rule) {
    std::vector<size_t> slots;
    size_t next = 0;
    for (const Row& document : documents) {
        slots.push_back(next);
        next += rule == Segments::Labels ? static_cast<size_t>(document.valid_labels()) : 1;
    }
    return slots;
}

/// Returns the documents of rows that share no prompt, one after the other; `as_one_sequence` has the same
/// meaning as in shard_rows.
std::vector<PlacedTokens> one_after_the_other(const std::vector<Row>& rows, bool as_one_sequence) {
    std::vector<PlacedTokens> parts;
    int64_t at = 0;
    for (const Row& row : rows) {
        if (!as_one_sequence) at = 0;
        for (const Row& document : row.documents()) {
            parts.push_back({parts.size(), 0, document.tokens(), at});
            at += document.tokens();
        }
    }
    return parts;
}

}  // namespace

BatchShard shard_rows(const std::vector<Row>& rows, const Layout& layout, int context_rank,
                      bool as_one_sequence, Segments segments, const SharedPrompts& prompts) {
    const Spans& spans = layout.ranks[static_cast<size_t>(context_rank)];
    BatchShard shard;
    shard.rows = as_one_sequence ? 1 : static_cast<int64_t>(rows.size());
    shard.input_ids.reserve(static_cast<size_t>(shard.rows * count_tokens(spans)));
    shard.labels.reserve(shard.input_ids.capacity());
    shard.places.reserve(shard.input_ids.capacity());
    const std::vector<Row> documents = documents_of_rows(rows);
    const std::vector<size_t> slots = first_slots(documents, segments);
    Sequence sequence(layout.tokens);
    for (const PlacedTokens& part :
         prompts.any() ? prompts.parts : one_after_the_other(rows, as_one_sequence)) {
        if (!as_one_sequence && part.at == 0 && part.document > 0) {
            add_share(shard, sequence, spans);
            sequence = Sequence(layout.tokens);
        }
        sequence.put(documents[part.document], part, slots[part.document], segments);
    }
    add_share(shard, sequence, spans);
    return shard;
}

std::vector<Row> sequences_of(const Config& config, const std::vector<Row>& rows) {
    if (sequences_per_row(config) == 1) return rows;
    std::vector<Row> sequences;
    for (const Row& row : rows) {
        for (Row& document : row.documents()) sequences.push_back(std::move(document));
    }
    return sequences;
}

}  // namespace ringmaster
