/// Ranks that were stopped (SIGSTOP, a terminal's Ctrl-Z): alive, but nothing comes from them any more.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <chrono>

namespace ringmaster {

/// The signal that a child is stopped by now; 0: it runs, has ended, or a debugger holds it.
int stopped_by(pid_t child);

/// How long a rank has been stopped, as far as the agent was there to see it: one that was suspended with its
/// ranks, or with the machine, has not.
class StopClock {
  public:
    using Clock = std::chrono::steady_clock;

    static constexpr std::chrono::seconds kLook{1};
    static constexpr std::chrono::seconds kPatience{10};  ///< for who looks and continues it

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
