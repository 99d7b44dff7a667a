#include "engine/plan/slices.h"

#include <algorithm>

#include "engine/error.h"

namespace ringmaster {

namespace {

// Keys are sorted by position, so what a query sees is always the first v keys, and v never falls from one
// query to the next: the visible cells are a staircase. A run is a stretch of queries where v stays (slope 0)
// or grows by one (slope 1).
struct Run {
    int64_t begin = 0;  // of local queries
    int64_t end = 0;
    int64_t keys = 0;  // that its first query sees
    int64_t slope = 0;

    int64_t last_keys() const { return keys + slope * (end - begin - 1); }
    bool single() const { return end - begin == 1; }
};

int64_t keys_up_to(const Spans& keys, int64_t position) {
    int64_t count = 0;
    for (const Span& span : keys) {
        if (position < span.begin) break;
        count += std::min(span.size(), (position - span.begin) / span.step + 1);
    }
    return count;
}

void require_equal_steps(const Spans& queries, const Spans& keys) {
    int64_t step = 0;
    for (const Spans* spans : {&queries, &keys}) {
        for (const Span& span : *spans) {
            if (span.size() <= 1) continue;
            if (step == 0) step = span.step;
            if (span.step != step)
                throw Error(Failure::Refused, "slices between spans of unequal steps", "slices");
        }
    }
}

/// Local queries of one span at which the staircase may bend: where a key span begins to be seen and where it
/// is whole.
std::vector<int64_t> bends(const Span& queries, const Spans& keys) {
    const int64_t count = queries.size();
    std::vector<int64_t> at = {0, count};
    for (const Span& span : keys) {
        const int64_t distance = span.begin - queries.begin;
        const int64_t first =
            distance > 0 ? (distance + queries.step - 1) / queries.step : -((-distance) / queries.step);
        const int64_t whole = first + span.size() - 1;
        for (const int64_t bend : {first, first + 1, whole, whole + 1}) {
            if (bend > 0 && bend < count) at.push_back(bend);
        }
    }
    std::sort(at.begin(), at.end());
    at.erase(std::unique(at.begin(), at.end()), at.end());
    return at;
}

/// Lengthens the last run by the next one where together they are still straight.
void append(std::vector<Run>& runs, Run next) {
    if (runs.empty()) {
        runs.push_back(next);
        return;
    }
    Run& last = runs.back();
    const int64_t rise = next.keys - last.last_keys();
    const bool straight = (rise == 0 || rise == 1) && (last.single() || last.slope == rise) &&
                          (next.single() || next.slope == rise);
    if (straight) {
        last.slope = rise;
        last.end = next.end;
    } else {
        runs.push_back(next);
    }
}

std::vector<Run> staircase(const Spans& queries, const Spans& keys) {
    std::vector<Run> runs;
    int64_t offset = 0;
    for (const Span& span : queries) {
        if (span.size() == 0) continue;
        const std::vector<int64_t> at = bends(span, keys);
        for (size_t i = 0; i + 1 < at.size(); ++i) {
            Run run{offset + at[i], offset + at[i + 1], keys_up_to(keys, span.begin + at[i] * span.step), 0};
            if (!run.single()) run.slope = keys_up_to(keys, span.begin + (at[i] + 1) * span.step) - run.keys;
            append(runs, run);
        }
        offset += span.size();
    }
    return runs;
}

/// Adds queries × the first `keys` keys, joined with the last full slice where that has the same keys.
void add_full(std::vector<Slice>& slices, int64_t begin, int64_t end, int64_t keys) {
    if (keys == 0) return;
    for (Slice& slice : slices) {
        if (slice.mask == SliceMask::Full && slice.key_end == keys && slice.query_end == begin) {
            slice.query_end = end;
            return;
        }
    }
    slices.push_back({begin, end, 0, keys, SliceMask::Full});
}

}  // namespace

int64_t Slice::visible_cells() const {
    const int64_t rows = query_end - query_begin;
    return mask == SliceMask::Full ? rows * (key_end - key_begin) : rows * (rows + 1) / 2;
}

std::vector<Slice> make_slices(const Spans& queries, const Spans& keys) {
    require_equal_steps(queries, keys);
    std::vector<Slice> slices;
    for (Run run : staircase(queries, keys)) {
        if (run.slope == 0) {
            add_full(slices, run.begin, run.end, run.keys);
            continue;
        }
        if (run.keys == 0) {  // a strictly lower diagonal: its first query sees nothing
            ++run.begin;
            run.keys = 1;
        }
        const int64_t corner = run.keys - 1;
        add_full(slices, run.begin, run.end, corner);
        slices.push_back({run.begin, run.end, corner, corner + run.end - run.begin, SliceMask::Causal});
    }
    return slices;
}

}  // namespace ringmaster
