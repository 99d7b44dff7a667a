/// Which calls of a flash kernel compute a hop's slices. Pure integers, apart from the device that runs them.
///
/// A kernel takes segments, each some queries against some keys, and one window for all of them. Windows are
/// counted from a segment's bottom right corner, as FlashAttention-2 has it: of Q queries and S keys, query i
/// sees the keys j with i + S − Q − left <= j <= i + S − Q + right. Slices that lie side by side (a triangle
/// and the keys before it, a band's blocks) are one segment; segments of one window share a call.
/// Source: Dao 2023, "FlashAttention-2"; the alignment is that of its version 2.1.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/plan/attention_schedule.h"
#include "engine/plan/slices.h"

namespace ringmaster {

struct FlashWindow {
    static constexpr int64_t kNone = -1;
    int64_t left = kNone;
    int64_t right = kNone;

    bool operator==(const FlashWindow&) const = default;
};

constexpr FlashWindow kCausalWindow{FlashWindow::kNone, 0};

/// Queries [query_begin, query_end) against keys [key_begin, key_end).
struct FlashSegment {
    int64_t query_begin = 0;
    int64_t query_end = 0;
    int64_t key_begin = 0;
    int64_t key_end = 0;

    int64_t queries() const { return query_end - query_begin; }
    int64_t keys() const { return key_end - key_begin; }
    bool operator==(const FlashSegment&) const = default;
};

struct FlashCall {
    FlashWindow window;
    std::vector<FlashSegment> segments;  ///< ascending queries, apart

    bool operator==(const FlashCall&) const = default;
};

/// Every visible cell is in one segment of one call. A query is in one call, whatever the layout, documents
/// and window, as long as what it sees of the hop's keys is one stretch.
std::vector<FlashCall> flash_calls(const std::vector<Slice>& slices);

/// The same cells of queries [begin, end) alone.
std::vector<Slice> of_queries(const std::vector<Slice>& slices, int64_t begin, int64_t end);

/// How a call's segments lie one behind the other.
struct FlashPacking {
    KeyRange queries;  ///< one stretch; in gaps between segments are queries that see no key
    KeyRanges keys;    ///< one stretch with its gaps, or where segments share keys, one a segment
    std::vector<int32_t> query_ends, key_ends;  ///< from 0: cu_seqlens, one more than segments and gaps
    int64_t most_queries = 0;                   ///< of a segment
    int64_t most_keys = 0;
    bool gaps = false;  ///< some queries see no key, or some keys are not seen

    bool dense(int64_t rows) const { return static_cast<int64_t>(query_ends.size()) == rows + 1 && !gaps; }
};

/// `rows` sequences behind each other, each packed alike.
FlashPacking pack(const FlashCall& call, int64_t rows);
/// With all of a sequence's queries and keys, also those before the first segment and behind the last.
FlashPacking pack_whole(const FlashCall& call, int64_t rows, int64_t queries, int64_t keys);

}  // namespace ringmaster
