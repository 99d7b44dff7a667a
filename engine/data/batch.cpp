#include "engine/data/batch.h"

#include <algorithm>

namespace ringmaster {

RowCounts count_rows(const TokenFile& file, const std::vector<int64_t>& rows) {
    RowCounts counts;
    for (int64_t index : rows) {
        counts.tokens += file.row(index).tokens();
        counts.valid_labels += file.row(index).valid_labels();
    }
    return counts;
}

int64_t batch_length(const TokenFile& file, const std::vector<int64_t>& rows, const Padding& padding,
                     int64_t sequence_len) {
    if (padding.fixed_length) return *padding.fixed_length;
    if (padding.to_sequence_len) return sequence_len;
    int64_t longest = 0;
    for (int64_t index : rows) longest = std::max(longest, file.row(index).tokens());
    return longest;
}

BatchShard shard_rows(const TokenFile& file, const std::vector<int64_t>& rows, const Layout& layout,
                      int context_rank) {
    const Spans& spans = layout.ranks[static_cast<size_t>(context_rank)];
    BatchShard shard;
    shard.rows = static_cast<int64_t>(rows.size());
    shard.input_ids.reserve(static_cast<size_t>(shard.rows * count_tokens(spans)));
    shard.labels.reserve(shard.input_ids.capacity());
    for (int64_t index : rows) {
        const Row row = file.row(index);
        for (const Span& span : spans) {
            for (int64_t at = span.begin; at < span.end; at += span.step) {
                const bool has_label = at + 1 < row.tokens();
                shard.input_ids.push_back(at < row.tokens() ? row.input_ids[static_cast<size_t>(at)] : 0);
                shard.labels.push_back(has_label ? row.labels[static_cast<size_t>(at + 1)] : kNoLabel);
                shard.valid_labels += shard.labels.back() != kNoLabel;
            }
        }
    }
    return shard;
}

}  // namespace ringmaster
