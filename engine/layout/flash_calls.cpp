#include "engine/layout/flash_calls.h"

#include <algorithm>
#include <utility>

namespace ringmaster {

namespace {

/// Queries [begin, end), of which the first sees keys [low, high). From one query to the next, each bound
/// stays (slope 0) or grows by one (slope 1).
struct Band {
    int64_t begin = 0, end = 0;
    int64_t low = 0, high = 0;
    int64_t low_slope = 0, high_slope = 0;

    int64_t size() const { return end - begin; }
    bool single() const { return size() == 1; }
    int64_t last_low() const { return low + low_slope * (size() - 1); }
    int64_t last_high() const { return high + high_slope * (size() - 1); }
};

/// Returns the part of the slice in queries [begin, end).
Band part_of(const Slice& slice, int64_t begin, int64_t end) {
    const int64_t row = begin - slice.query_begin;
    switch (slice.mask) {
        case SliceMask::Causal:
            return {begin, end, slice.key_begin, slice.key_begin + row + 1, 0, 1};
        case SliceMask::InverseCausal:
            return {begin, end, slice.key_begin + row, slice.key_end, 1, 0};
        case SliceMask::Full:
            break;
    }
    return {begin, end, slice.key_begin, slice.key_end, 0, 0};
}

/// Joins parts of the same queries if one part's keys begin at the end of the other's.
std::vector<Band> side_by_side(std::vector<Band> parts) {
    std::sort(parts.begin(), parts.end(), [](const Band& a, const Band& b) { return a.low < b.low; });
    std::vector<Band> bands;
    for (const Band& part : parts) {
        Band* last = bands.empty() ? nullptr : &bands.back();
        if (last != nullptr && last->high == part.low && last->last_high() == part.last_low()) {
            last->high = part.high;
            last->high_slope = part.high_slope;
        } else {
            bands.push_back(part);
        }
    }
    return bands;
}

/// Extends `last` by the queries of `next` if both bounds stay straight. Returns whether `last` was extended.
bool goes_on(Band& last, const Band& next) {
    const int64_t low_rise = next.low - last.last_low(), high_rise = next.high - last.last_high();
    const auto straight = [](int64_t rise, int64_t slope, bool single) {
        return (rise == 0 || rise == 1) && (single || slope == rise);
    };
    if (last.end != next.begin || !straight(low_rise, last.low_slope, last.single()) ||
        !straight(high_rise, last.high_slope, last.single()) ||
        !straight(low_rise, next.low_slope, next.single()) ||
        !straight(high_rise, next.high_slope, next.single()))
        return false;
    last.low_slope = low_rise;
    last.high_slope = high_rise;
    last.end = next.end;
    return true;
}

/// Bands in layers: no two bands of a layer share a query.
using Layers = std::vector<std::vector<Band>>;

Layers layers_of(std::vector<Slice> slices) {
    std::sort(slices.begin(), slices.end(),
              [](const Slice& a, const Slice& b) { return a.query_begin < b.query_begin; });
    std::vector<int64_t> at;
    for (const Slice& slice : slices) {
        at.push_back(slice.query_begin);
        at.push_back(slice.query_end);
    }
    std::sort(at.begin(), at.end());
    at.erase(std::unique(at.begin(), at.end()), at.end());
    Layers layers;
    std::vector<Slice> open;
    auto next = slices.begin();
    for (size_t i = 0; i + 1 < at.size(); ++i) {
        std::erase_if(open, [&](const Slice& slice) { return slice.query_end <= at[i]; });
        for (; next != slices.end() && next->query_begin == at[i]; ++next) open.push_back(*next);
        std::vector<Band> parts;
        for (const Slice& slice : open) parts.push_back(part_of(slice, at[i], at[i + 1]));
        parts = side_by_side(std::move(parts));
        if (layers.size() < parts.size()) layers.resize(parts.size());
        for (size_t layer = 0; layer < parts.size(); ++layer) {
            std::vector<Band>& bands = layers[layer];
            if (bands.empty() || !goes_on(bands.back(), parts[layer])) bands.push_back(parts[layer]);
        }
    }
    return layers;
}

struct WindowedSegment {
    FlashSegment segment;
    FlashWindow window;
};

/// Returns a band as a segment; the window hides the keys that its first queries do not see. Every query sees
/// a key, so neither width is negative.
WindowedSegment segment_of(const Band& band) {
    const FlashSegment segment{band.begin, band.end, band.low, band.last_high()};
    if (band.single()) return {segment, {}};
    FlashWindow window;
    if (band.low_slope == 1) window.left = segment.keys() - segment.queries();
    if (band.high_slope == 1) window.right = 0;
    if (band.low_slope == 1 && band.high_slope == 1) window.left = band.high - band.low - 1;
    return {segment, window};
}

/// Returns whether `first` holds the first queries of the window, which see fewer keys than its width.
bool opens(const WindowedSegment& first, const WindowedSegment& band) {
    return first.segment.query_end == band.segment.query_begin && first.window == kCausalWindow &&
           band.window.right == 0 && band.window.left != FlashWindow::kNone &&
           first.segment.key_end == band.segment.key_begin + band.window.left &&
           first.segment.key_begin <= band.segment.key_begin &&
           first.segment.key_begin + 1 >= band.segment.key_begin;
}

std::vector<WindowedSegment> segments_of(const std::vector<Band>& bands) {
    std::vector<WindowedSegment> segments;
    for (const Band& band : bands) {
        WindowedSegment next = segment_of(band);
        if (!segments.empty()) {
            WindowedSegment first = segments.back();
            if (first.segment.queries() == 1) first.window = kCausalWindow;
            if (opens(first, next)) {
                next.segment.query_begin = first.segment.query_begin;
                next.segment.key_begin = first.segment.key_begin;
                segments.pop_back();
            }
        }
        segments.push_back(next);
    }
    return segments;
}

/// Returns whether the segment has the same visible cells under `window`.
bool keeps(const WindowedSegment& it, const FlashWindow& window) {
    const auto wide = [](int64_t bound, int64_t needed) {
        return bound == FlashWindow::kNone || bound >= needed;
    };
    const auto same = [&](int64_t own, int64_t other, int64_t needed) {
        return own == FlashWindow::kNone ? wide(other, needed) : own == other;
    };
    return same(it.window.left, window.left, it.segment.keys() - 1) &&
           same(it.window.right, window.right, it.segment.queries() - 1);
}

/// Returns how many sides of the window are open, to place the most constrained segments first.
int choices(const FlashWindow& window) {
    return (window.left == FlashWindow::kNone) + (window.right == FlashWindow::kNone);
}

std::vector<FlashCall> calls_of(std::vector<WindowedSegment> segments) {
    std::stable_sort(segments.begin(), segments.end(),
                     [](const WindowedSegment& a, const WindowedSegment& b) {
                         return choices(a.window) < choices(b.window);
                     });
    std::vector<FlashCall> calls;
    for (const WindowedSegment& it : segments) {
        const auto call = std::find_if(calls.begin(), calls.end(),
                                       [&](const FlashCall& made) { return keeps(it, made.window); });
        if (call == calls.end()) {
            calls.push_back({it.window, {it.segment}});
        } else {
            call->segments.push_back(it.segment);
        }
    }
    for (FlashCall& call : calls) {
        std::sort(call.segments.begin(), call.segments.end(),
                  [](const FlashSegment& a, const FlashSegment& b) { return a.query_begin < b.query_begin; });
    }
    return calls;
}

bool share_keys(const std::vector<FlashSegment>& segments) {
    return std::adjacent_find(segments.begin(), segments.end(),
                              [](const FlashSegment& a, const FlashSegment& b) {
                                  return b.key_begin < a.key_end;
                              }) != segments.end();
}

/// Places the segments of a launch one after the other.
class Packer {
  public:
    Packer(FlashPacking& packing, const std::vector<FlashSegment>& segments) : packing_(packing) {
        end_segment();
        for (const FlashSegment& it : segments) {
            query_piece_ = std::max(query_piece_, it.queries());
            key_piece_ = std::max(key_piece_, it.keys());
        }
    }
    void segment(int64_t queries, int64_t keys) {
        queries_ += queries;
        keys_ += keys;
        packing_.most_queries = std::max(packing_.most_queries, queries);
        packing_.most_keys = std::max(packing_.most_keys, keys);
        end_segment();
    }
    void gap(int64_t queries, int64_t keys) {
        packing_.gaps = packing_.gaps || queries > 0 || keys > 0;
        for (; queries > 0; queries -= query_piece_) segment(std::min(queries, query_piece_), 0);
        for (; keys > 0; keys -= key_piece_) segment(0, std::min(keys, key_piece_));
    }

  private:
    void end_segment() {
        packing_.query_ends.push_back(static_cast<int32_t>(queries_));
        packing_.key_ends.push_back(static_cast<int32_t>(keys_));
    }

    FlashPacking& packing_;
    int64_t query_piece_ = kFlashBlock, key_piece_ = kFlashBlock;
    int64_t queries_ = 0, keys_ = 0;
};

/// Returns whether the kernel would hide visible keys: it replaces a missing right end by max_seqlen_k, but
/// the first query of a segment needs a right end of at least queries − 1, counted from the corner.
bool needs_wider_keys(const FlashPacking& packing) {
    return packing.window.left != FlashWindow::kNone && packing.window.right == FlashWindow::kNone &&
           packing.most_keys < packing.most_queries;
}

/// Packs the call's segments. Keys shared by segments are copied, and leave no gaps.
FlashPacking packed(const FlashCall& call, int64_t rows, const KeyRange& queries, const KeyRange& keys) {
    const std::vector<FlashSegment>& segments = call.segments;
    FlashPacking packing;
    const bool shared = share_keys(segments);
    packing.window = call.window;
    packing.queries = queries;
    if (!shared) packing.keys = {keys};
    for (const FlashSegment& it : segments) {
        if (shared) packing.keys.push_back({it.key_begin, it.key_end});
    }
    Packer packer(packing, segments);
    for (int64_t row = 0; row < rows; ++row) {
        int64_t query = queries.begin, key = keys.begin;
        for (const FlashSegment& it : segments) {
            packer.gap(it.query_begin - query, shared ? 0 : it.key_begin - key);
            packer.segment(it.queries(), it.keys());
            query = it.query_end;
            key = it.key_end;
        }
        packer.gap(queries.end - query, shared ? 0 : keys.end - key);
    }
    packing.dense = packing.segments() == rows && !needs_wider_keys(packing);
    if (needs_wider_keys(packing)) packing.most_keys = packing.most_queries;
    return packing;
}

FlashPacking packed_tightly(const FlashCall& call, int64_t rows) {
    const std::vector<FlashSegment>& segments = call.segments;
    return packed(call, rows, {segments.front().query_begin, segments.back().query_end},
                  {segments.front().key_begin, segments.back().key_end});
}

}  // namespace

std::vector<FlashCall> flash_calls(const std::vector<Slice>& slices) {
    std::vector<FlashCall> calls;
    for (const std::vector<Band>& bands : layers_of(slices)) {
        for (FlashCall& call : calls_of(segments_of(bands))) calls.push_back(std::move(call));
    }
    return calls;
}

bool is_one_call(const std::vector<Slice>& slices) {
    const std::vector<FlashCall> calls = flash_calls(slices);
    return calls.size() == 1 && !share_keys(calls[0].segments);
}

std::vector<Slice> of_queries(const std::vector<Slice>& slices, int64_t begin, int64_t end) {
    std::vector<Slice> parts;
    const auto add = [&](const Slice& slice) {
        if (slice.key_begin < slice.key_end) parts.push_back(slice);
    };
    for (const Slice& it : slices) {
        const int64_t first = std::max(it.query_begin, begin), last = std::min(it.query_end, end);
        if (first >= last) continue;
        // A triangle that is cut becomes a smaller square along the diagonal and a rectangle next to it.
        const int64_t low = it.key_begin + first - it.query_begin,
                      high = it.key_begin + last - it.query_begin;
        switch (it.mask) {
            case SliceMask::Full:
                add({first, last, it.key_begin, it.key_end, SliceMask::Full});
                break;
            case SliceMask::Causal:
                add({first, last, it.key_begin, low, SliceMask::Full});
                add({first, last, low, high, SliceMask::Causal});
                break;
            case SliceMask::InverseCausal:
                add({first, last, low, high, SliceMask::InverseCausal});
                add({first, last, high, it.key_end, SliceMask::Full});
                break;
        }
    }
    return parts;
}

std::vector<FlashPacking> pack(const FlashCall& call, int64_t rows) {
    FlashPacking whole = packed_tightly(call, rows);
    if (whole.segments() <= kMostFlashSegments || call.segments.size() == 1) return {std::move(whole)};
    const auto middle = call.segments.begin() + static_cast<std::ptrdiff_t>(call.segments.size() / 2);
    std::vector<FlashPacking> parts = pack({call.window, {call.segments.begin(), middle}}, rows);
    for (FlashPacking& part : pack({call.window, {middle, call.segments.end()}}, rows))
        parts.push_back(std::move(part));
    return parts;
}

std::optional<FlashPacking> pack_whole(const FlashCall& call, int64_t rows, int64_t queries, int64_t keys) {
    FlashPacking whole = packed(call, rows, {0, queries}, {0, keys});
    if (whole.keys.size() != 1 || whole.segments() > kMostFlashSegments) return {};
    return whole;
}

/// Raises the maximum length to 2 in packed launches, because for a single query the kernel takes a path that
/// cannot handle gaps. A bound above the real length is allowed.
FlashArguments flash_arguments(const FlashWindow& window, bool dense, int64_t most_queries,
                               int64_t most_keys) {
    const bool causal = window == kCausalWindow;
    return {dense ? most_queries : std::max<int64_t>(2, most_queries), most_keys, causal, window.left,
            causal ? FlashWindow::kNone : window.right};
}

}  // namespace ringmaster
