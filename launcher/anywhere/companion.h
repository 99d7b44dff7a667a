/// Follows and stops a run that lives elsewhere: keeps its local run directory up to date, and checks its
/// Slurm job regularly. It starts nothing.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "launcher/local_node.h"
#include "launcher/nodes/mirror.h"
#include "launcher/slurm/watch.h"

namespace ringmaster {

class RunCompanion {
  public:
    /// `sessions` are those that exist, one per node; the mirror opens the missing ones itself.
    RunCompanion(const RunDirectory& run, std::vector<std::unique_ptr<SshSession>> sessions,
                 const SshPerson& person);

    /// Returns "fetching model.safetensors …", "Slurm job 42 waits: Resources", or why Slurm does not answer;
    /// else empty.
    std::string job_note() const;
    std::string trouble() const;  ///< why a named node is silent; empty if none is
    const std::string& not_contacted() const { return not_contacted_; }  ///< lists the nodes without a name

    /// See SlurmWatch::is_really_over; always true for a run that is no Slurm job.
    bool is_really_over(const std::function<bool()>& given_up);

  private:
    std::string not_contacted_;
    std::unique_ptr<RunMirror> mirror_;
    std::unique_ptr<SlurmWatch> slurm_;
};

/// Returns true if the run lives elsewhere or in Slurm and is not over, or if Slurm has not yet been asked
/// how it ended.
bool needs_companion(const RunDirectory& run);

/// Logs in to each node without a session in `sessions` (one per node of the run), so that the user can be
/// asked at once. Calls `complain` for nodes that cannot be reached (the mirror retries them) and for those
/// that nobody has named. Returns null if the run needs no companion.
std::unique_ptr<RunCompanion> companion_of(const RunDirectory& run, const SshPerson& person,
                                           const std::function<void(const std::string&)>& complain,
                                           std::vector<std::unique_ptr<SshSession>> sessions = {});

/// Does what request_stop of launcher/local_node.h does, wherever the run lives.
bool stop_anywhere(const RunDirectory& run, StopHow how, const SshPerson& person);

/// Updates run.json if the run's Slurm job is over. Throws Error(Unreachable).
void settle_anywhere(const RunDirectory& run, const SshPerson& person);

/// Does the same for all runs that are not over, with one squeue per cluster on this machine. Returns false
/// if none is in Slurm. Throws Error(Unreachable).
bool settle_open_runs(const std::vector<RunDirectory>& runs);

}  // namespace ringmaster
