/// Measures communication: bytes sent, time in flight, and the part of it that computation did not hide.
///
/// Time in flight is the union of the intervals between each transfer's start and completion (transfers that
/// overlap count once). Exposed time is how long computation stood still in `Transfer::wait`. Nothing is
/// synchronised to measure either.
///
/// Bytes are those that this rank sends. An exchange counts its tensors. An all-reduce over n ranks counts
/// 2(n-1)/n of the tensor, as if it ran on a ring; an all-to-all and a reduce-scatter count (n-1)/n of their
/// input; an all-gather counts (n-1) times its input; a broadcast counts (n-1) times the tensor on its root
/// and 0 elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace ringmaster {

struct CommTotals {
    double in_flight_s = 0;
    double exposed_s = 0;
    int64_t sent_bytes = 0;
};

/// Counts one rank's communication; any thread may call it.
class Meter {
  public:
    using Clock = std::chrono::steady_clock;

    void begin(Clock::time_point at);  ///< counts a transfer that was posted
    void end(Clock::time_point at);    ///< counts a transfer that completed
    void exposed(double seconds);
    void in_flight(double seconds);  ///< adds time measured elsewhere (by device events)
    void sent(int64_t bytes);

    /// Returns the totals since the last call. For a transfer in flight, this counts the time up to `now`,
    /// and the next call counts the rest.
    CommTotals take(Clock::time_point now);

  private:
    std::mutex mutex_;
    CommTotals totals_;
    int under_way_ = 0;
    Clock::time_point since_;
};

/// Returns the length of the union of [begin, end) intervals.
double union_length(std::vector<std::pair<double, double>> intervals);

}  // namespace ringmaster
