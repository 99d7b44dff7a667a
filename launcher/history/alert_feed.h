/// Passes a run's steps to the alert detector in ascending order, although RunHistory reads the newest first.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "engine/events/event.h"
#include "launcher/alerts/detector.h"

namespace ringmaster {

class RunHistory;

class AlertFeed {
  public:
    /// Takes events in the order in which they were written. `looks` is true if the run is running on this
    /// machine, so that silence can be a stall.
    void take(const std::vector<EventLine>& lines, int ranks, bool looks, double now);
    /// Takes the steps that are new in `run`, which must have read all of its events.
    void advance(const RunHistory& run, bool looks, double now);

    const std::vector<Alert>& all() const { return all_; }  ///< all alerts, ordered by time
    std::vector<Alert> take_news();                         ///< returns the alerts since the last call

  private:
    void learn_attempts(const RunHistory& run);
    void begin(int64_t start_step, double t);
    void feed(const RunHistory& run, int64_t from, int64_t to);
    void keep(std::vector<Alert> found);

    AlertDetector detector_;
    std::vector<int64_t> next_;  ///< next step of each rank
    std::set<int64_t> begins_;   ///< steps from which a later attempt of a recorded run continued
    int attempt_ = 0;            ///< newest attempt seen; 0: none
    std::vector<Alert> all_, news_;
};

}  // namespace ringmaster
