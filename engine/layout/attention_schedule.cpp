#include "engine/layout/attention_schedule.h"

#include <algorithm>

#include "engine/layout/flash_calls.h"

namespace ringmaster {

namespace {

/// Returns the keys that at least one slice reads.
KeyRanges read_by(const std::vector<Slice>& slices) {
    KeyRanges read;
    for (const Slice& slice : slices) read.push_back({slice.key_begin, slice.key_end});
    std::sort(read.begin(), read.end(),
              [](const KeyRange& a, const KeyRange& b) { return a.begin < b.begin; });
    KeyRanges joined;
    for (const KeyRange& range : read) {
        if (!joined.empty() && range.begin <= joined.back().end) {
            joined.back().end = std::max(joined.back().end, range.end);
        } else {
            joined.push_back(range);
        }
    }
    return joined;
}

/// Returns the slices with keys renumbered as if only `ranges` existed.
std::vector<Slice> compacted(std::vector<Slice> slices, const KeyRanges& ranges) {
    for (Slice& slice : slices) {
        int64_t before = 0;
        for (const KeyRange& range : ranges) {
            if (slice.key_begin < range.end) {
                const int64_t moved = range.begin - before;
                slice.key_begin -= moved;
                slice.key_end -= moved;
                break;
            }
            before += range.size();
        }
    }
    return slices;
}

/// Computes, for pairs of ring ranks, the keys of one rank that the other rank's queries read.
class Pairs {
  public:
    Pairs(const std::vector<Spans>& queries, const std::vector<Spans>& keys, const AttentionMask& mask)
        : queries_(queries), keys_(keys), mask_(mask) {}

    int ranks() const { return static_cast<int>(keys_.size()); }
    int at(int rank) const { return (rank % ranks() + ranks()) % ranks(); }
    const Spans& queries(int rank) const { return queries_[static_cast<size_t>(at(rank))]; }
    const Spans& keys(int rank) const { return keys_[static_cast<size_t>(at(rank))]; }
    std::vector<Slice> slices(int of_queries, int of_keys) const {
        return make_slices(queries(of_queries), keys(of_keys), mask_);
    }
    KeyRanges read(int of_queries, int of_keys) const { return read_by(slices(of_queries, of_keys)); }
    /// Returns the slices with keys numbered as they arrive: only the keys that are read arrive.
    std::vector<Slice> of_read_keys(int of_queries, int of_keys) const {
        const std::vector<Slice> all = slices(of_queries, of_keys);
        return compacted(all, read_by(all));
    }

  private:
    const std::vector<Spans>&queries_, &keys_;
    const AttentionMask& mask_;
};

Stage own_stage(const Pairs& pairs, int rank) {
    Stage stage;
    stage.is_own = true;
    stage.keys = count_tokens(pairs.keys(rank));
    stage.slices = pairs.slices(rank, rank);
    stage.one_call = is_one_call(stage.slices);
    return stage;
}

}  // namespace

int64_t count_keys(const KeyRanges& ranges) {
    int64_t count = 0;
    for (const KeyRange& range : ranges) count += range.size();
    return count;
}

bool is_idle(const AttentionSchedule& schedule) {
    return std::all_of(schedule.stages.begin(), schedule.stages.end(),
                       [](const Stage& stage) { return stage.slices.empty() && stage.exchanges.empty(); });
}

AttentionSchedule make_ring_schedule(const std::vector<Spans>& spans, int rank, const AttentionMask& mask) {
    return make_ring_schedule(spans, spans, rank, mask);
}

std::vector<AttentionSchedule> make_chunk_schedules(const std::vector<std::vector<Spans>>& spans, int rank,
                                                    const AttentionMask& mask, size_t chunk) {
    std::vector<AttentionSchedule> schedules;
    for (size_t keys = 0; keys <= chunk; ++keys)
        schedules.push_back(make_ring_schedule(spans[chunk], spans[keys], rank, mask));
    return schedules;
}

AttentionSchedule make_ring_schedule(const std::vector<Spans>& queries, const std::vector<Spans>& keys,
                                     int rank, const AttentionMask& mask) {
    const Pairs pairs(queries, keys, mask);
    AttentionSchedule schedule;
    schedule.stages.push_back(own_stage(pairs, rank));
    for (int distance = 1; distance < pairs.ranks(); ++distance) {
        const std::vector<Slice> slices = pairs.slices(rank, rank - distance);
        const KeyRanges read = read_by(slices);
        KeyExchange exchange;
        exchange.to = pairs.at(rank + distance);
        exchange.from = pairs.at(rank - distance);
        exchange.sent = pairs.read(rank + distance, rank);
        exchange.received = count_keys(read);
        exchange.sent_to_one_call = is_one_call(pairs.of_read_keys(rank + distance, rank));
        Stage stage;
        stage.keys = exchange.received;
        if (!exchange.sent.empty() || exchange.received > 0) stage.exchanges.push_back(exchange);
        stage.slices = compacted(slices, read);
        stage.one_call = is_one_call(stage.slices);
        schedule.stages.push_back(std::move(stage));
    }
    return schedule;
}

AttentionSchedule make_gather_schedule(const std::vector<Spans>& spans, int rank, const AttentionMask& mask,
                                       int64_t heads_k_stride) {
    const Pairs pairs(spans, spans, mask);
    AttentionSchedule schedule;
    schedule.heads_at_once = heads_k_stride;
    Stage stage;
    Spans keys;
    std::vector<int64_t> begins;
    for (int source = 0; source < pairs.ranks(); ++source) {
        const KeyRanges read = pairs.read(rank, source);
        begins.push_back(stage.keys);
        if (source == rank) {
            stage.own = read;
            stage.own_at = stage.keys;
        }
        for (const KeyRange& range : read) {
            for (const Span& span : cut(pairs.keys(source), range.begin, range.end)) append_span(keys, span);
        }
        stage.keys += count_keys(read);
    }
    for (int distance = 1; distance < pairs.ranks(); ++distance) {
        KeyExchange exchange;
        exchange.to = pairs.at(rank + distance);
        exchange.from = pairs.at(rank - distance);
        exchange.sent = pairs.read(exchange.to, rank);
        const auto from = static_cast<size_t>(exchange.from);
        exchange.at = begins[from];
        exchange.received = (from + 1 < begins.size() ? begins[from + 1] : stage.keys) - begins[from];
        if (!exchange.sent.empty() || exchange.received > 0) stage.exchanges.push_back(exchange);
    }
    const bool alone = stage.keys == count_keys(stage.own) && stage.exchanges.empty();
    if (alone) {
        schedule.stages.push_back(own_stage(pairs, rank));
        return schedule;
    }
    stage.slices = make_slices(pairs.queries(rank), keys, mask);
    schedule.stages.push_back(std::move(stage));
    return schedule;
}

}  // namespace ringmaster
