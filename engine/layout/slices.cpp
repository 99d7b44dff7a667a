#include "engine/layout/slices.h"

#include <algorithm>

#include "engine/error.h"

namespace ringmaster {

namespace {

// Keys are sorted by position, so a query sees the local keys [low, high), and neither bound falls from one
// query of a document to the next: the visible cells lie between two staircases. A run is a stretch of
// queries in which each bound stays (slope 0) or grows by one (slope 1).
struct Run {
    int64_t begin = 0;  // index among the local queries
    int64_t end = 0;
    int64_t low = 0;  // bounds of the first query
    int64_t high = 0;
    int64_t low_slope = 0;
    int64_t high_slope = 0;

    int64_t size() const { return end - begin; }
    bool single() const { return size() == 1; }
    int64_t last_low() const { return low + low_slope * (size() - 1); }
    int64_t last_high() const { return high + high_slope * (size() - 1); }
};

/// Finds local keys by position.
class KeyIndex {
  public:
    explicit KeyIndex(const Spans& keys) : keys_(keys) {
        int64_t before = 0;
        for (const Span& span : keys) {
            before_.push_back(before);
            before += span.size();
        }
        before_.push_back(before);
    }

    /// Returns the first span that may hold a position >= `position`.
    size_t span_from(int64_t position) const {
        const auto found = std::partition_point(keys_.begin(), keys_.end(),
                                                [&](const Span& span) { return span.end <= position; });
        return static_cast<size_t>(found - keys_.begin());
    }
    int64_t count_below(int64_t position) const {
        const size_t at = span_from(position);
        if (at == keys_.size() || position <= keys_[at].begin) return before_[at];
        const Span& span = keys_[at];
        return before_[at] + (position - span.begin + span.step - 1) / span.step;
    }
    const Span& operator[](size_t span) const { return keys_[span]; }
    size_t size() const { return keys_.size(); }

  private:
    const Spans& keys_;
    std::vector<int64_t> before_;
};

constexpr int64_t kFar = int64_t{1} << 60;

/// The positions that the queries of one piece see: from p − behind to p + ahead, inside the document.
struct Reach {
    int64_t behind = kFar;
    int64_t ahead = 0;
    DocumentRange document;

    int64_t first(int64_t position) const { return std::max(document.begin, position - behind); }
    int64_t end(int64_t position) const { return std::min(document.end, position + ahead + 1); }
};

Reach reach_of(const AttentionMask& mask, const DocumentRange& document) {
    const int64_t window = mask.window > 0 ? mask.window - 1 : kFar;
    return {window, mask.causal ? 0 : window, document};
}

void require_equal_steps(const Spans& queries, const Spans& keys) {
    int64_t step = 0;
    for (const Spans* spans : {&queries, &keys}) {
        for (const Span& span : *spans) {
            if (span.size() <= 1) continue;
            if (step == 0) step = span.step;
            if (span.step != step)
                throw Error(Failure::Refused, Code("PLAN-LAYOUT"), "slices between spans of unequal steps",
                            "slices");
        }
    }
}

/// Returns the queries of a piece (by index) at which a bound may bend: a key span comes into view, is fully
/// in view, begins to leave, or has left.
std::vector<int64_t> bends(const Span& queries, const Reach& reach, const KeyIndex& keys) {
    const int64_t count = queries.size();
    std::vector<int64_t> at = {0, count};
    const auto add = [&](int64_t position) {  // adds the first query at or after `position`, and the next
        const int64_t distance = position - queries.begin;
        const int64_t first =
            distance > 0 ? (distance + queries.step - 1) / queries.step : -((-distance) / queries.step);
        for (const int64_t bend : {first, first + 1}) {
            if (bend > 0 && bend < count) at.push_back(bend);
        }
    };
    const int64_t end = reach.end(queries.last());
    for (size_t i = keys.span_from(reach.first(queries.begin)); i < keys.size() && keys[i].begin < end; ++i) {
        const Span& span = keys[i];
        const int64_t low = std::max(span.begin, reach.document.begin);
        const int64_t high = std::min(span.last(), reach.document.end - 1);
        const int64_t first = span.begin + (low - span.begin + span.step - 1) / span.step * span.step;
        const int64_t last = span.begin + (high - span.begin) / span.step * span.step;
        for (const int64_t key : {first, last}) {
            if (reach.ahead < kFar) add(key - reach.ahead);
            if (reach.behind < kFar) add(key + reach.behind + 1);
        }
    }
    std::sort(at.begin(), at.end());
    at.erase(std::unique(at.begin(), at.end()), at.end());
    return at;
}

/// Appends a run, or joins it to the last run if the two touch and each bound has one slope over both.
void append(std::vector<Run>& runs, const Run& next) {
    if (!runs.empty() && runs.back().end == next.begin) {
        Run& last = runs.back();
        const int64_t low_rise = next.low - last.last_low(), high_rise = next.high - last.last_high();
        const auto goes_on = [](int64_t rise, int64_t slope, bool single) {
            return (rise == 0 || rise == 1) && (single || slope == rise);
        };
        if (goes_on(low_rise, last.low_slope, last.single()) &&
            goes_on(high_rise, last.high_slope, last.single()) &&
            goes_on(low_rise, next.low_slope, next.single()) &&
            goes_on(high_rise, next.high_slope, next.single())) {
            last.low_slope = low_rise;
            last.high_slope = high_rise;
            last.end = next.end;
            return;
        }
    }
    runs.push_back(next);
}

/// Removes the queries at the ends that see no key. Returns false if none is left.
bool clip(Run& run) {
    const int64_t size = run.size();
    if (run.low >= run.high) {
        if (run.high_slope <= run.low_slope) return false;
        const int64_t skipped = run.low - run.high + 1;
        if (skipped >= size) return false;
        run.begin += skipped;
        run.high += skipped * run.high_slope;
        run.low += skipped * run.low_slope;
    }
    if (run.last_low() >= run.last_high()) run.end = run.begin + (run.high - run.low);
    return run.begin < run.end;
}

/// Returns the runs of one piece; documents never share a run.
std::vector<Run> staircase(const Piece& piece, int64_t offset, const KeyIndex& keys,
                           const AttentionMask& mask) {
    const Reach reach = reach_of(mask, piece.document);
    const std::vector<int64_t> at = bends(piece.span, reach, keys);
    const auto bounds = [&](int64_t index) {
        const int64_t position = piece.span.begin + index * piece.span.step;
        const int64_t low = keys.count_below(reach.first(position));
        return std::pair(low, std::max(low, keys.count_below(reach.end(position))));
    };
    std::vector<Run> runs;
    for (size_t i = 0; i + 1 < at.size(); ++i) {
        const auto [low, high] = bounds(at[i]);
        Run run{offset + at[i], offset + at[i + 1], low, high, 0, 0};
        if (!run.single()) {
            const auto [next_low, next_high] = bounds(at[i] + 1);
            run.low_slope = next_low - low;
            run.high_slope = next_high - high;
        }
        append(runs, run);
    }
    std::erase_if(runs, [](Run& run) { return !clip(run); });
    return runs;
}

/// Adds queries × keys, joined with the last full slice if that slice has the same keys.
void add_full(std::vector<Slice>& slices, int64_t begin, int64_t end, int64_t low, int64_t high) {
    if (low >= high || begin >= end) return;
    for (auto slice = slices.rbegin(); slice != slices.rend() && slice->query_end >= begin; ++slice) {
        if (slice->mask == SliceMask::Full && slice->key_begin == low && slice->key_end == high &&
            slice->query_end == begin) {
            slice->query_end = end;
            return;
        }
    }
    slices.push_back({begin, end, low, high, SliceMask::Full});
}

/// Adds the slices for queries that see keys [low + i, high): a triangle and the keys after it.
void add_trailing(std::vector<Slice>& slices, int64_t begin, int64_t end, int64_t low, int64_t high) {
    const int64_t rows = std::min(end - begin, high - low);
    if (rows <= 0) return;
    slices.push_back({begin, begin + rows, low, low + rows, SliceMask::InverseCausal});
    add_full(slices, begin, begin + rows, low + rows, high);
}

void add_leading(std::vector<Slice>& slices, int64_t begin, int64_t end, int64_t corner) {
    slices.push_back({begin, end, corner, corner + end - begin, SliceMask::Causal});
}

/// Adds a band whose width is the number of keys of its first query, in blocks of at most that many queries.
void add_band(std::vector<Slice>& slices, const Run& run) {
    const int64_t width = run.high - run.low;
    for (int64_t done = 0; done < run.size(); done += width) {
        const int64_t begin = run.begin + done, end = std::min(begin + width, run.end);
        add_trailing(slices, begin, end, run.low + done, run.high + done - 1);
        add_leading(slices, begin, end, run.high + done - 1);
    }
}

void add_run(std::vector<Slice>& slices, const Run& run) {
    if (run.low_slope == 0 && run.high_slope == 0) {
        add_full(slices, run.begin, run.end, run.low, run.high);
    } else if (run.low_slope == 0) {
        const int64_t corner = run.high - 1;
        add_full(slices, run.begin, run.end, run.low, corner);
        add_leading(slices, run.begin, run.end, corner);
    } else if (run.high_slope == 0) {
        add_trailing(slices, run.begin, run.end, run.low, run.high);
    } else {
        add_band(slices, run);
    }
}

}  // namespace

int64_t Slice::visible_cells() const {
    const int64_t rows = query_end - query_begin;
    return mask == SliceMask::Full ? rows * (key_end - key_begin) : rows * (rows + 1) / 2;
}

std::vector<Slice> make_slices(const Spans& queries, const Spans& keys, const AttentionMask& mask) {
    require_equal_steps(queries, keys);
    const KeyIndex index(keys);
    std::vector<Slice> slices;
    int64_t offset = 0;
    std::vector<Run> runs, of_prompts;
    for (const Span& span : queries) {
        for (Piece piece : cut_by_documents({span}, mask)) {
            const int64_t first = offset + (piece.span.begin - span.begin) / span.step;
            if (piece.prompt.end == piece.document.begin) {
                piece.document.begin -= piece.prompt.size();  // the prompt and the document form one stretch
            } else if (piece.prompt.size() > 0) {
                for (const Run& run : staircase(piece.after_prompt(), first, index, mask))
                    append(of_prompts, run);
            }
            for (const Run& run : staircase(piece, first, index, mask)) append(runs, run);
        }
        offset += span.size();
    }
    for (const Run& run : runs) add_run(slices, run);
    for (const Run& run : of_prompts) add_run(slices, run);
    return slices;
}

}  // namespace ringmaster
