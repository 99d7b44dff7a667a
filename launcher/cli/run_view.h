/// Shows a run on a terminal, drawn in place or as plain lines.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "launcher/cli/terminal.h"
#include "launcher/history/figures.h"

namespace ringmaster {

/// Returns the lines of the live picture: header, progress, loss, each rank (or the spread and the outliers
/// of many ranks), checkpoints and evaluations. Shows the time left if `goes_on` is set. Each line fits the
/// terminal; there are at most `terminal.height - 1` lines.
std::vector<std::string> run_picture(const RunHistory& run, std::optional<int64_t> total_steps, bool goes_on,
                                     const Terminal& terminal, const std::string& note);

/// Formats a run for a log: a line every `interval` steps, and a line for every other event.
class RunLines {
  public:
    RunLines(std::optional<int64_t> total_steps, int64_t interval)
        : total_steps_(total_steps), interval_(interval) {}

    /// Returns the lines to print for new events; a step is held back until every rank has reported it.
    std::vector<std::string> take(const RunHistory& run, const std::vector<EventLine>& events);

  private:
    bool is_wanted(int64_t step) const;
    std::string step_line(const RunHistory& run, const StepEvent& step) const;

    std::optional<int64_t> total_steps_;
    int64_t interval_;
    std::deque<StepEvent> waiting_;
};

}  // namespace ringmaster
