/// Delivers a run's alerts, and that it has ended, to a webhook and a command, as RUN/alerts.json says. The process runs next to the
/// agent of node 0 and ends with the run; nothing that it does can delay or end the run.
///
///     ringmaster-agent --alerts DIR [--ranks N]     N: ranks whose events this machine has (default: all)
///
/// The command gets the message as its last argument and the alert as a line of JSON on its input. It is run
/// without a shell, and killed after 30 s. The webhook gets a POST of JSON, at most three times within a
/// minute. At most eight deliveries run at once; what failed stands in RUN/alerts.log.
///
/// A job's script of Slurm sends the signal USR1 once the ranks have ended: a run that is not over then has
/// failed, although nobody is left to write so. TERM ends the process after the alerts that it has found.
#pragma once

#include <filesystem>
#include <optional>
#include <span>

namespace ringmaster {

/// Starts `--alerts DIR` in its own session, if the run has a webhook or a command. Never throws.
void start_alerts(const std::filesystem::path& run_dir, int ranks);

/// Follows the run until it is over. Returns the exit status.
int deliver_alerts(std::span<char* const> arguments);

}  // namespace ringmaster
