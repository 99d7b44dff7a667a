#include "engine/layout/pair_counts.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace ringmaster {

namespace {

/// Returns Σ over x = 1 … n of min(x, m).
double staircase(double n, double m) {
    if (n <= 0) return 0;
    return n <= m ? n * (n + 1) / 2 : m * (m + 1) / 2 + (n - m) * m;
}

int64_t floor_div(int64_t a, int64_t b) {
    return a >= 0 ? a / b : -((-a + b - 1) / b);
}

/// Returns the number of pairs of a query p and a key k with k <= p − behind.
double pairs_behind(const Span& queries, const Span& keys, int64_t behind) {
    const auto offset = double(floor_div(queries.begin - keys.begin - behind, keys.step));
    const auto n = double(queries.size()), m = double(keys.size());
    return staircase(offset + n, m) - staircase(offset, m);
}

/// Returns the number of positions from `first` to `last`.
double count_within(const Spans& spans, int64_t first, int64_t last) {
    double count = 0;
    for (const Span& span : spans) {
        const int64_t up_to_last = std::min(span.size(), floor_div(last - span.begin, span.step) + 1);
        const int64_t below_first =
            std::clamp<int64_t>(floor_div(first - 1 - span.begin, span.step) + 1, 0, span.size());
        count += double(std::max<int64_t>(0, up_to_last - below_first));
    }
    return count;
}

/// Returns the number of keys of one document that some of its queries see.
double keys_seen(const Spans& queries, const Spans& keys, int64_t window) {
    if (queries.empty()) return 0;
    if (window == 0) return count_within(keys, 0, queries.back().last());
    double count = 0;
    int64_t counted = -1;  // last position counted so far
    for (const Span& query : queries) {
        count += count_within(keys, std::max(counted + 1, query.begin - window + 1), query.last());
        counted = std::max(counted, query.last());
    }
    return count;
}

}  // namespace

double cells_between(const Spans& queries, const Spans& keys, const AttentionMask& mask) {
    double cells = 0;
    const auto add = [&](const Span& query, const Span& key) {
        if (key.begin > query.last()) return;
        cells += pairs_behind(query, key, 0);
        if (mask.window > 0) cells -= pairs_behind(query, key, mask.window);
    };
    if (mask.documents.empty()) {
        for (const Span& query : queries)
            for (const Span& key : keys) add(query, key);
        return cells;
    }
    const std::vector<Piece> pieces = cut_by_documents(keys, mask);
    for (const Piece& query : cut_by_documents(queries, mask)) {
        for (const Piece& key : pieces) {
            if (key.document == query.document) add(query.span, key.span);
            if (key.document == query.prompt) add(query.after_prompt().span, key.span);
        }
    }
    return cells;
}

double keys_between(const Spans& queries, const Spans& keys, const AttentionMask& mask) {
    if (mask.documents.empty()) return keys_seen(queries, keys, mask.window);
    std::map<int64_t, std::pair<Spans, Spans>> of_document;
    for (const Piece& query : cut_by_documents(queries, mask))
        of_document[query.document.begin].first.push_back(query.span);
    for (const Piece& key : cut_by_documents(keys, mask))
        of_document[key.document.begin].second.push_back(key.span);
    double count = 0;
    for (const auto& [begin, both] : of_document) count += keys_seen(both.first, both.second, mask.window);
    return count;
}

double queries_between(const Spans& queries, const Spans& keys, int64_t window) {
    if (keys.empty()) return 0;
    const int64_t last = window > 0 ? keys.back().last() + window - 1 : int64_t{1} << 60;
    return count_within(queries, keys.front().begin, last);
}

}  // namespace ringmaster
