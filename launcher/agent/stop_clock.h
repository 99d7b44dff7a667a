/// Watches for ranks that were stopped (SIGSTOP, a terminal's Ctrl-Z): they are alive but send nothing.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <chrono>

namespace ringmaster {

/// Returns the signal by which a child is stopped; 0 if it runs, has ended, or a debugger holds it.
int stopped_by(pid_t child);

/// Measures how long a rank has been stopped while the agent ran. Time in which the agent itself was
/// suspended, with its ranks or with the machine, does not count.
class StopClock {
  public:
    using Clock = std::chrono::steady_clock;

    static constexpr std::chrono::seconds kLook{1};
    static constexpr std::chrono::seconds kPatience{10};  ///< lets a user notice and continue the rank

    void look(bool is_stopped, Clock::time_point now) {
        const Clock::duration seen =
            was_stopped_ ? std::min<Clock::duration>(now - looked_, 2 * kLook) : Clock::duration{};
        stopped_ = is_stopped ? stopped_ + seen : Clock::duration{};
        was_stopped_ = is_stopped;
        looked_ = now;
    }

    bool is_too_long() const { return stopped_ >= kPatience; }

  private:
    Clock::duration stopped_{};
    Clock::time_point looked_;
    bool was_stopped_ = false;
};

}  // namespace ringmaster
