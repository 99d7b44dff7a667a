/// Defines stretches of global token positions.
#pragma once

#include <cstdint>
#include <vector>

namespace ringmaster {

/// Positions begin, begin + step, … up to but not including end.
struct Span {
    int64_t begin = 0;
    int64_t end = 0;
    int64_t step = 1;

    int64_t size() const { return (end - begin + step - 1) / step; }
    int64_t last() const { return begin + (size() - 1) * step; }
    bool operator==(const Span&) const = default;
};

using Spans = std::vector<Span>;

/// Returns `count` positions starting at `begin`; the end is one past the last position.
inline Span span_of(int64_t begin, int64_t count, int64_t step = 1) {
    return {begin, begin + (count - 1) * step + 1, step};
}

int64_t count_tokens(const Spans& spans);

/// Returns the local tokens [from, to) of `spans`.
Spans cut(const Spans& spans, int64_t from, int64_t to);

/// Appends `span`, and merges it with the last span if it continues that span. Skips empty spans.
void append_span(Spans& spans, const Span& span);

}  // namespace ringmaster
