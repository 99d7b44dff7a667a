/// Turns a hop's slices into calls of a flash kernel. Uses integers only; the device's code runs the calls.
///
/// A kernel takes segments, each a range of queries against a range of keys, and one window for all of them.
/// Windows are measured from a segment's bottom right corner, as in FlashAttention-2: of Q queries and S
/// keys, query i sees the keys j with i + S − Q − left <= j <= i + S − Q + right. Slices that are adjacent (a
/// triangle and the keys before it, or a band's blocks) form one segment; segments with the same window share
/// a call. Source: Dao 2023, "FlashAttention-2", with the alignment of its version 2.1.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/layout/attention_schedule.h"
#include "engine/layout/slices.h"

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
    std::vector<FlashSegment> segments;  ///< ascending queries, disjoint

    bool operator==(const FlashCall&) const = default;
};

/// Returns calls in which every visible cell is in one segment of one call. Each query is in one call, for
/// any layout, documents and window, if the keys it sees in the hop are contiguous.
std::vector<FlashCall> flash_calls(const std::vector<Slice>& slices);

/// Returns whether the slices are one call whose segments share no key.
bool is_one_call(const std::vector<Slice>& slices);

/// Returns the slices restricted to queries [begin, end).
std::vector<Slice> of_queries(const std::vector<Slice>& slices, int64_t begin, int64_t end);

/// The largest block of queries or keys in FlashAttention-2.
constexpr int64_t kFlashBlock = 128;
/// The maximum number of segments per launch. Segments are the y dimension of the launch's grid, which CUDA
/// limits.
constexpr int64_t kMostFlashSegments = 65535;

/// Describes how the segments of a launch follow each other in memory.
///
/// The kernel sizes its grid by the longest segment that it is given, and leaves rows beyond that length
/// uninitialized. Queries and keys between segments ("gaps") therefore become segments too, cut into pieces
/// that fit the grid: the kernel writes zeros and an infinite log-sum-exp there.
struct FlashPacking {
    FlashWindow window;
    KeyRange queries;  ///< one range, gaps included
    KeyRanges keys;    ///< one range, gaps included; if segments share keys, one range per segment
    std::vector<int32_t> query_ends, key_ends;  ///< cu_seqlens: a 0, then the end of each segment or gap
    int64_t most_queries = 0;                   ///< max_seqlen_q
    int64_t most_keys = 0;                      ///< max_seqlen_k
    bool gaps = false;                          ///< some queries see no key, or some keys are unseen
    bool dense = false;  ///< one segment per row and no gaps, so the kernel needs no cu_seqlens

    int64_t segments() const { return static_cast<int64_t>(query_ends.size()) - 1; }
};

/// Returns the launches of a call for `rows` consecutive sequences that are packed in the same way. There is
/// one launch unless it would exceed kMostFlashSegments segments.
std::vector<FlashPacking> pack(const FlashCall& call, int64_t rows);
/// Returns one launch with all of a sequence's queries and keys, including those before the first segment and
/// after the last. Returns nothing if segments share keys or do not fit in one launch.
std::optional<FlashPacking> pack_whole(const FlashCall& call, int64_t rows, int64_t queries, int64_t keys);

/// The scalar arguments of a launch. `causal` is true for kCausalWindow, for which the kernel has faster
/// code; `right` is then kNone.
struct FlashArguments {
    int64_t max_queries = 0, max_keys = 0;
    bool causal = false;
    int64_t left = FlashWindow::kNone, right = FlashWindow::kNone;
};
FlashArguments flash_arguments(const FlashWindow& window, bool dense, int64_t most_queries,
                               int64_t most_keys);

}  // namespace ringmaster
