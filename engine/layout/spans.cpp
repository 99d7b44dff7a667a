#include "engine/layout/spans.h"

#include <algorithm>

namespace ringmaster {

int64_t count_tokens(const Spans& spans) {
    int64_t count = 0;
    for (const Span& span : spans) count += span.size();
    return count;
}

Spans cut(const Spans& spans, int64_t from, int64_t to) {
    Spans part;
    int64_t offset = 0;
    for (const Span& span : spans) {
        const int64_t first = std::max(from - offset, int64_t{0});
        const int64_t last = std::min(to - offset, span.size());
        if (first < last) part.push_back(span_of(span.begin + first * span.step, last - first, span.step));
        offset += span.size();
    }
    return part;
}

void append_span(Spans& spans, const Span& span) {
    if (span.size() <= 0) return;
    const bool continues =
        !spans.empty() && spans.back().step == span.step && spans.back().last() + span.step == span.begin;
    if (continues) {
        spans.back().end = span.end;
    } else {
        spans.push_back(span);
    }
}

}  // namespace ringmaster
