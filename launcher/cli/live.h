/// Follows a run on the terminal to its end, and acts on the user's signals meanwhile.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/plan/plan.h"
#include "launcher/backends/run_follower.h"
#include "launcher/base/progress.h"
#include "launcher/cli/commands.h"
#include "launcher/cli/interrupts.h"
#include "launcher/history/history.h"
#include "launcher/run/resume.h"

namespace ringmaster {

enum class CtrlC {
    StopsRun,  ///< the first Ctrl-C finishes the step and saves, the second stops at once; SIGTERM finishes
               ///< and saves
    Leaves,    ///< the command ends, but the run continues
};

/// Draws what is new in `history` (or prints it as lines or JSON events) until the run is over, then reports
/// how it ended. Returns the exit status: 0 completed or stopped, 1 failed, 3 not started, 130 left by
/// Ctrl-C; 0 if the terminal was closed (the run continues). `follower` belongs to a run that lives
/// elsewhere; else it is null.
int follow_to_end(RunHistory& history, CtrlC ctrl_c, const CommandContext& session,
                  const Interrupts& interrupts, RunFollower* follower);

/// Returns a history that keeps only the last steps, which is enough for a terminal.
RunHistory terminal_history(const RunDirectory& run);

/// Returns text for the user that says how the run ended.
std::string ending_text(const RunDirectory& run, const Terminal& terminal);

/// Prints `{"type":"run","dir":"…"}`.
void print_run_line(const RunDirectory& run);

/// Prints the step from which the run continues; with --json, prints print_run_line instead.
void tell_resumed(const RunDirectory& run, const ResumedRun& resumed, const CommandContext& session);

/// Shows the progress of long steps on stderr: one updated line on a terminal, else a line per step.
class ProgressPrinter {
  public:
    ProgressPrinter(const CommandContext& session, const Interrupts& interrupts)
        : session_(session), interrupts_(interrupts) {}
    ~ProgressPrinter() { clear(); }
    ProgressPrinter(const ProgressPrinter&) = delete;
    ProgressPrinter& operator=(const ProgressPrinter&) = delete;

    Progress progress();
    void clear();  ///< removes the updated line

  private:
    void show(const ProgressStep& step);

    const CommandContext& session_;
    const Interrupts& interrupts_;
    std::string shown_;  ///< text of the step shown last
    bool drawn_ = false;
};

}  // namespace ringmaster
