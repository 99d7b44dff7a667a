/// Computes robust statistics, which outliers hardly change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace ringmaster {

/// Returns the median, or the upper of the two middle values; ignores NaN. Returns NaN if there are no
/// values.
double median(std::vector<double> values);

/// Returns 1.4826 × the median distance from `middle` (MAD), which is the standard deviation for normal data.
double deviation(const std::vector<double>& values, double middle);

/// Keeps the last values of a series sorted, so that reading their median is fast.
class RecentValues {
  public:
    explicit RecentValues(size_t most) : most_(most) {}

    void add(int64_t step, double value);  ///< drops the oldest value if there are more than `most`
    void drop_after(int64_t step);         ///< drops the values of later steps
    size_t size() const { return sorted_.size(); }
    /// median; call it only if there is a value
    double middle() const { return sorted_[sorted_.size() / 2]; }
    const std::vector<double>& sorted() const { return sorted_; }

  private:
    void drop(double value);

    size_t most_;
    std::deque<std::pair<int64_t, double>> values_;  ///< values in the order of arrival
    std::vector<double> sorted_;
};

/// Holds the times of a rank's step, or their medians over several steps.
struct RankWait {
    int rank = 0;
    double wait_s = 0;  ///< exposed communication in a step
    double step_s = 0;
};

struct SlowRank {
    int rank = 0;      ///< rank that waits least, because the others wait for it
    int waiting = 0;   ///< rank that waits longest
    double share = 0;  ///< (longest wait − shortest wait) ÷ step time of the longest-waiting rank
};

/// Returns the rank that the others wait for. Call it with at least one rank whose step time is positive.
SlowRank slowest_rank(const std::vector<RankWait>& waits);

}  // namespace ringmaster
