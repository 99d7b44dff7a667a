#include "engine/comm/meter.h"

#include <algorithm>

namespace ringmaster {

namespace {

double seconds(Meter::Clock::duration duration) {
    return std::chrono::duration<double>(duration).count();
}

}  // namespace

void Meter::begin(Clock::time_point at) {
    std::lock_guard lock(mutex_);
    if (under_way_++ == 0) since_ = at;
}

void Meter::end(Clock::time_point at) {
    std::lock_guard lock(mutex_);
    if (--under_way_ == 0) totals_.in_flight_s += seconds(at - since_);
}

void Meter::exposed(double exposed_s) {
    std::lock_guard lock(mutex_);
    totals_.exposed_s += exposed_s;
}

void Meter::in_flight(double in_flight_s) {
    std::lock_guard lock(mutex_);
    totals_.in_flight_s += in_flight_s;
}

void Meter::sent(int64_t bytes) {
    std::lock_guard lock(mutex_);
    totals_.sent_bytes += bytes;
}

CommTotals Meter::take(Clock::time_point now) {
    std::lock_guard lock(mutex_);
    if (under_way_ > 0) {
        totals_.in_flight_s += seconds(now - since_);
        since_ = now;
    }
    return std::exchange(totals_, {});
}

double union_length(std::vector<std::pair<double, double>> intervals) {
    std::sort(intervals.begin(), intervals.end());
    double length = 0;
    double covered_to = intervals.empty() ? 0 : intervals.front().first;
    for (const auto& [begin, end] : intervals) {
        length += std::max(0.0, end - std::max(begin, covered_to));
        covered_to = std::max(covered_to, end);
    }
    return length;
}

}  // namespace ringmaster
