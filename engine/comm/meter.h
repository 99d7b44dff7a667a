/// What communication cost: bytes sent, time in flight, and the part of it that computation did not hide.
///
/// In flight is the union of the intervals between a transfer's start and its completion (transfers that
/// overlap count once); exposed is the time that computation stood still in `Transfer::wait`. Nothing is
/// synchronised to measure it.
///
/// Bytes are what this rank sends. An exchange: its tensors. An all-reduce over n ranks: 2(n-1)/n of the
/// tensor, as a ring does it. An all-to-all, a reduce-scatter: (n-1)/n of what is given. An all-gather: (n-1)
/// times what is given. A broadcast: (n-1) times the tensor on
/// its root, 0 elsewhere.
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

/// Counts for one rank; any thread may call it.
class Meter {
  public:
    using Clock = std::chrono::steady_clock;

    void begin(Clock::time_point at);  ///< a transfer was posted
    void end(Clock::time_point at);    ///< one was completed
    void exposed(double seconds);
    void in_flight(double seconds);  ///< measured elsewhere (by device events)
    void sent(int64_t bytes);

    /// Totals since the last call; what is in flight at `now` counts up to `now` and goes on in the next.
    CommTotals take(Clock::time_point now);

  private:
    std::mutex mutex_;
    CommTotals totals_;
    int under_way_ = 0;
    Clock::time_point since_;
};

/// Length of the union of [begin, end) intervals.
double union_length(std::vector<std::pair<double, double>> intervals);

}  // namespace ringmaster
