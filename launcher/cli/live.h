/// Following a run on the terminal to its end, and what the person's signals mean meanwhile.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/plan/plan.h"
#include "launcher/anywhere/companion.h"
#include "launcher/cli/commands.h"
#include "launcher/cli/interrupts.h"
#include "launcher/follower.h"
#include "launcher/progress.h"
#include "launcher/resume.h"

namespace ringmaster {

enum class CtrlC {
    StopsRun,  ///< first: finish the step and save; second: stop now. SIGTERM: finish and save
    Leaves,    ///< the run goes on
};

/// Draws (or prints as lines, or as JSON events) what `follower` has not given yet, until the run is over;
/// then says how it ended. Returns the exit status: 0 completed or stopped, 1 failed, 3 could not be started,
/// 130 left by Ctrl-C; 0 where the terminal was closed (the run goes on). `companion` of a run that lives
/// elsewhere, else null.
int follow_to_end(RunFollower& follower, CtrlC ctrl_c, const Session& session, const Interrupts& interrupts,
                  RunCompanion* companion);

/// A terminal shows the last steps only.
RunFollower terminal_follower(const RunDirectory& run);

/// How the run ended, for a person.
std::string ending_text(const RunDirectory& run, const Terminal& terminal);

/// `{"type":"run","dir":"…"}`
void print_run_line(const RunDirectory& run);

/// From which step it goes on; with --json its directory, as of any run.
void tell_resumed(const RunDirectory& run, const ResumedRun& resumed, const Session& session);

/// Progress of the long steps on stderr: one line in place on a terminal, else a line for each new step.
class ProgressPrinter {
  public:
    ProgressPrinter(const Session& session, const Interrupts& interrupts)
        : session_(session), interrupts_(interrupts) {}
    ~ProgressPrinter() { clear(); }
    ProgressPrinter(const ProgressPrinter&) = delete;
    ProgressPrinter& operator=(const ProgressPrinter&) = delete;

    Progress progress();
    void clear();  ///< takes the line in place away

  private:
    void show(const ProgressStep& step);

    const Session& session_;
    const Interrupts& interrupts_;
    std::string shown_;  ///< name of the last step
    bool drawn_ = false;
};

}  // namespace ringmaster
