/// Decides how long a rank waits for a transfer before it gives up, reports where it waited, and ends.
#pragma once

#include <algorithm>
#include <chrono>

#include "engine/config/config.h"

namespace ringmaster {

class Patience {
  public:
    using Time = std::chrono::milliseconds;

    explicit Patience(const Config& config) {
        if (config.ddp_timeout) asked_ = std::chrono::seconds(*config.ddp_timeout);
    }

    void step_took(double seconds) {
        longest_step_ = std::max(longest_step_, Time(static_cast<int64_t>(seconds * 1e3)));
    }

    /// Returns the timeout during steps, after the first: `ddp_timeout`, or by default two minutes or twice
    /// the longest step so far, whichever is longer, because no rank should lag further behind.
    Time in_steps() const {
        return asked_.count() > 0 ? asked_ : std::max<Time>(std::chrono::minutes(2), 2 * longest_step_);
    }

    /// Returns the timeout before the first step, and while one rank writes files and the others wait.
    Time elsewhere() const { return std::max<Time>(std::chrono::minutes(30), in_steps()); }

  private:
    Time asked_{};
    Time longest_step_{};
};

}  // namespace ringmaster
