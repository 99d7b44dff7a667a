#include "engine/layout/part_joins.h"

#include <algorithm>

namespace ringmaster {

namespace {

constexpr int64_t kSumBytes = 4;  // float32

}  // namespace

int64_t parts_held(int64_t bytes) {
    constexpr int64_t kMostBytes = int64_t{512} << 20;
    return std::min(kMostPartsHeld, kMostBytes / std::max<int64_t>(1, bytes));
}

void PartJoins::hold(int64_t elements) {
    ++held_;
    parts_elements_ += elements;
    covered_ = std::max(covered_, elements);
}

int64_t PartJoins::join() {
    if (held_ == 0) return 0;
    const int64_t of_sum = kSumBytes * (has_sum_ ? 2 * covered_ : elements_);
    const int64_t bytes = bytes_of_parts() + of_sum;
    has_sum_ = true;
    let_go();
    return bytes;
}

int64_t PartJoins::finish() {
    const int64_t bytes =
        bytes_of_parts() + (has_sum_ ? kSumBytes * elements_ : 0) + element_bytes_ * elements_;
    has_sum_ = false;
    let_go();
    return bytes;
}

void PartJoins::let_go() {
    held_ = parts_elements_ = covered_ = 0;
}

int64_t joined_with(PartJoins& joins, int64_t elements) {
    int64_t bytes = joins.is_full() ? joins.join() : 0;
    joins.hold(elements);
    if (joins.holds_none()) bytes += joins.join();
    return bytes;
}

}  // namespace ringmaster
