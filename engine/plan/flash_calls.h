/// Which calls of a flash kernel compute a hop's slices. Pure integers, apart from the device that runs them.
///
/// A kernel takes segments, each some queries against some keys, and one window for all of them. Windows are
/// counted from a segment's bottom right corner, as FlashAttention-2 has it: of Q queries and S keys, query i
/// sees the keys j with i + S − Q − left <= j <= i + S − Q + right. Slices that lie side by side (a triangle
/// and the keys before it, a band's blocks) are one segment; segments of one window share a call.
/// Source: Dao 2023, "FlashAttention-2"; the alignment is that of its version 2.1.
#pragma once

#include <cstdint>
#include <optional>
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

/// FlashAttention-2's blocks of queries or keys are at most so long.
constexpr int64_t kFlashBlock = 128;
/// Segments of one launch, which are the y dimension of its grid: CUDA's limit.
constexpr int64_t kMostFlashSegments = 65535;

/// How the segments of a launch follow each other in memory.
///
/// The kernel sizes its grid by the longest segment that it is told of, and leaves the rows of longer ones as
/// they were allocated. Queries and keys between segments ("gaps") are therefore segments of their own, cut
/// into pieces that fit that grid: the kernel writes zeros and an infinite log-sum-exp there.
struct FlashPacking {
    FlashWindow window;
    KeyRange queries;  ///< one stretch, gaps included
    KeyRanges keys;    ///< one stretch, gaps included; if segments share keys, one range a segment
    std::vector<int32_t> query_ends, key_ends;  ///< cu_seqlens: from 0, one more than segments and gaps
    int64_t most_queries = 0;                   ///< max_seqlen_q
    int64_t most_keys = 0;                      ///< max_seqlen_k
    bool gaps = false;                          ///< some queries see no key, or some keys are not seen
    bool dense = false;                         ///< one segment a row and no gap: needs no cu_seqlens

    int64_t segments() const { return static_cast<int64_t>(query_ends.size()) - 1; }
};

/// The launches of a call for `rows` sequences that follow each other, each packed alike: one, unless it
/// would have more than kMostFlashSegments.
std::vector<FlashPacking> pack(const FlashCall& call, int64_t rows);
/// One launch with all of a sequence's queries and keys, also those before the first segment and after the
/// last. Empty if segments share keys, or are too many for one launch.
std::optional<FlashPacking> pack_whole(const FlashCall& call, int64_t rows, int64_t queries, int64_t keys);

/// The scalars of a launch. Causal is the kernel's word for kCausalWindow, for which it has faster code; the
/// right end is kNone then.
struct FlashArguments {
    int64_t max_queries = 0, max_keys = 0;
    bool causal = false;
    int64_t left = FlashWindow::kNone, right = FlashWindow::kNone;
};
FlashArguments flash_arguments(const FlashWindow& window, bool dense, int64_t most_queries,
                               int64_t most_keys);

}  // namespace ringmaster
