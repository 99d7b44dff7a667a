/// Delivers a run's alerts, and the message that the run has ended, to the webhook and the command that
/// RUN/alerts.json names. The process runs next to the agent of node 0 and ends with the run; it cannot delay
/// or end the run.
///
///     ringmaster-agent --alerts DIR [--ranks N]     N: ranks whose events this machine has (default: all)
///
/// The command gets the message as its last argument and the alert as a line of JSON on its input. The
/// command runs without a shell and is killed after 30 s. The webhook gets a POST of JSON, at most three
/// times within a minute. At most eight deliveries run at once; failures are written to RUN/alerts.log. The
/// message that the run has ended comes after the alerts, unless one of them takes longer than 20 s.
///
/// The script of a Slurm job sends the signal USR1 once the ranks have ended. If run.json does not say by
/// then that the run is over, the run has failed, because no process is left that could record how it ended.
/// After TERM, the process delivers the alerts that it has found, then ends.
#pragma once

#include <filesystem>
#include <optional>

#include "engine/words/arguments.h"

namespace ringmaster {

/// Starts `--alerts DIR` in its own session if the run has a webhook or a command. Never throws.
void start_alerts(const std::filesystem::path& run_dir, int ranks);

/// Follows the run until it is over. Returns the exit status.
int deliver_alerts(const Arguments& given);

}  // namespace ringmaster
