#include "engine/plan/time/join_costs.h"

#include <algorithm>
#include <cmath>

namespace ringmaster {

namespace {

int64_t rounded(double x) {
    return std::llround(x);
}

/// Adds `parts` parts of the same size. Returns the bytes moved.
double joined(PartJoins& joins, double parts, double elements) {
    if (elements <= 0) return 0;
    const int64_t count = std::max<int64_t>(1, rounded(parts));
    double bytes = 0;
    for (int64_t part = 0; part < count; ++part)
        bytes += double(joined_with(joins, rounded(elements / double(count))));
    return bytes;
}

PartJoins query_joins(const JoinCosts::Sizes& sizes) {
    const int64_t elements = rounded(sizes.tokens * sizes.query_width);
    return sizes.sums_queries ? PartJoins(elements, 4, 0) : PartJoins(elements, sizes.element_bytes);
}

PartJoins key_joins(const JoinCosts::Sizes& sizes) {
    const int64_t elements = rounded(sizes.tokens * sizes.key_width);
    return sizes.sums_keys ? PartJoins(elements, 4, 0) : PartJoins(elements, sizes.element_bytes);
}

}  // namespace

JoinCosts::JoinCosts(const Sizes& sizes)
    : out_(query_joins(sizes)),
      dq_(out_),
      dk_(key_joins(sizes)),
      query_width_(sizes.query_width),
      key_width_(sizes.key_width) {}

double JoinCosts::forward(double parts, double queries) {
    return joined(out_, parts, queries * query_width_);
}

double JoinCosts::backward(double parts, double queries, double keys) {
    return joined(dq_, parts, queries * query_width_) + 2 * joined(dk_, parts, keys * key_width_);
}

double JoinCosts::finish_forward() {
    return double(out_.finish());
}

double JoinCosts::finish_backward() {
    return double(dq_.finish()) + 2 * double(dk_.join());
}

}  // namespace ringmaster
