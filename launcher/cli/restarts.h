/// Follows a run and restarts it after failures. For a run on several nodes, this process performs the
/// restarts, because agents cannot send checkpoints to each other.
#pragma once

#include "launcher/anywhere/restart.h"
#include "launcher/cli/live.h"

namespace ringmaster {

/// Calls follow_to_end(). If the run fails and restarts are left, restarts it from its newest complete
/// checkpoint and follows it again.
int follow_restarting(RunHistory& history, std::unique_ptr<RunBackend> at, const RestartLimits& limits,
                      const CommandContext& session, const Interrupts& interrupts);

/// Returns a callback that shows the lost nodes and what changes without them. It agrees if `may_shrink` is
/// set; otherwise it asks the user at the terminal.
AgreeToShrink agree_at_terminal(bool may_shrink, const CommandContext& session, ProgressPrinter& printer);

}  // namespace ringmaster
