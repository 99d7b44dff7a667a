/// A run as a terminal shows it: drawn in place, or as plain lines.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "launcher/cli/terminal.h"
#include "launcher/follower.h"

namespace ringmaster {

/// The picture: header, progress, loss, each rank (or, of many, the spread and the outliers), what was saved
/// and evaluated. Every line fits the terminal; there are at most `terminal.height - 1`.
std::vector<std::string> run_picture(const RunFollower& run, std::optional<int64_t> total_steps,
                                     const Terminal& terminal, const std::string& note);

/// Lines for a log: one every `interval` steps, and one for whatever else happens.
class RunLines {
  public:
    RunLines(std::optional<int64_t> total_steps, int64_t interval)
        : total_steps_(total_steps), interval_(interval) {}

    /// What is to be printed after `events` came; a step waits until every rank has told of it.
    std::vector<std::string> take(const RunFollower& run, const std::vector<EventLine>& events);

  private:
    bool is_wanted(int64_t step) const;
    std::string step_line(const RunFollower& run, const StepEvent& step) const;

    std::optional<int64_t> total_steps_;
    int64_t interval_;
    std::deque<StepEvent> waiting_;
};

}  // namespace ringmaster
