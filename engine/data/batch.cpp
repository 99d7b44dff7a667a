#include "engine/data/batch.h"

#include <algorithm>
#include <numeric>

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

BatchShape batch_shape(const std::vector<Row>& rows, const Config& config, std::optional<int64_t> window) {
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
    if (window && *window < shape.longest_document) shape.mask.window = *window;
    return shape;
}

namespace {

/// A whole sequence: rows one after the other, then padding.
struct Sequence {
    std::vector<int64_t> input_ids, labels, places;
    std::vector<int32_t> segments;

    explicit Sequence(int64_t tokens)
        : input_ids(static_cast<size_t>(tokens)),
          labels(static_cast<size_t>(tokens), kNoLabel),
          places(static_cast<size_t>(tokens), -1),
          segments(static_cast<size_t>(tokens), -1) {}

    /// Adds a row whose documents, or labels, count from `slot` on; advances it.
    void add(const Row& row, size_t at, size_t& slot, Segments rule) {
        std::copy(row.input_ids.begin(), row.input_ids.end(),
                  input_ids.begin() + static_cast<std::ptrdiff_t>(at));
        std::iota(places.begin() + static_cast<std::ptrdiff_t>(at),
                  places.begin() + static_cast<std::ptrdiff_t>(at) + row.tokens(), row.place);
        size_t begin = 0;
        for (const int64_t end : row.document_ends) {
            const bool with_prompt = rule == Segments::ChosenPromptsToo && slot % 2 == 0;
            const auto shift = static_cast<size_t>(row.label_shift);
            for (size_t i = begin; i + shift < static_cast<size_t>(end); ++i) {
                const bool learned = row.labels[i + shift] != kNoLabel;
                if (!learned && !with_prompt) continue;
                labels[at + i] = learned ? row.labels[i + shift] : row.input_ids[i + shift];
                segments[at + i] = learned ? segment_of_completion(slot) : segment_of_prompt(slot);
                if (rule == Segments::Labels) ++slot;
            }
            begin = static_cast<size_t>(end);
            if (rule != Segments::Labels) ++slot;
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

}  // namespace

BatchShard shard_rows(const std::vector<Row>& rows, const Layout& layout, int context_rank,
                      bool as_one_sequence, Segments segments) {
    const Spans& spans = layout.ranks[static_cast<size_t>(context_rank)];
    BatchShard shard;
    shard.rows = as_one_sequence ? 1 : static_cast<int64_t>(rows.size());
    shard.input_ids.reserve(static_cast<size_t>(shard.rows * count_tokens(spans)));
    shard.labels.reserve(shard.input_ids.capacity());
    shard.places.reserve(shard.input_ids.capacity());
    Sequence sequence(layout.tokens);
    size_t at = 0, slot = 0;
    for (const Row& row : rows) {
        sequence.add(row, at, slot, segments);
        if (as_one_sequence) {
            at += row.input_ids.size();
            continue;
        }
        add_share(shard, sequence, spans);
        sequence = Sequence(layout.tokens);
    }
    if (as_one_sequence) add_share(shard, sequence, spans);
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
