#include "launcher/alerts/robust.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace ringmaster {

double median(std::vector<double> values) {
    std::erase_if(values, [](double value) { return std::isnan(value); });
    if (values.empty()) return std::nan("");
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

double deviation(const std::vector<double>& values, double middle) {
    constexpr double kOfNormalData = 1.4826;
    std::vector<double> away;
    for (const double value : values) away.push_back(std::abs(value - middle));
    return kOfNormalData * median(std::move(away));
}

void RecentValues::drop(double value) {
    sorted_.erase(std::lower_bound(sorted_.begin(), sorted_.end(), value));
}

void RecentValues::add(int64_t step, double value) {
    values_.emplace_back(step, value);
    sorted_.insert(std::upper_bound(sorted_.begin(), sorted_.end(), value), value);
    if (values_.size() <= most_) return;
    drop(values_.front().second);
    values_.pop_front();
}

void RecentValues::drop_after(int64_t step) {
    for (; !values_.empty() && values_.back().first > step; values_.pop_back()) drop(values_.back().second);
}

SlowRank slowest_rank(const std::vector<RankWait>& waits) {
    const auto [culprit, victim] = std::minmax_element(
        waits.begin(), waits.end(), [](const RankWait& a, const RankWait& b) { return a.wait_s < b.wait_s; });
    return {culprit->rank, victim->rank, (victim->wait_s - culprit->wait_s) / victim->step_s};
}

}  // namespace ringmaster
