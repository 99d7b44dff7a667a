/// Follows a run that lives elsewhere: keeps its local run directory up to date, and checks its Slurm job
/// regularly. It starts nothing.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "launcher/backends/backend.h"
#include "launcher/nodes/mirror.h"

namespace ringmaster {

class SlurmWatch;

class RunFollower {
  public:
    /// `sessions` holds one session per node, or null; the mirror opens the missing ones itself. `watch` is
    /// null for a run outside Slurm.
    RunFollower(const RunDirectory& run, Sessions sessions, std::unique_ptr<SlurmWatch> watch);
    ~RunFollower();

    /// Returns "fetching model.safetensors", "Slurm job 42 waits: Resources", or why Slurm does not answer;
    /// else an empty note.
    RunNote job_note() const;
    NodeTrouble trouble() const;  ///< trouble of a node that the user has named
    /// Lists the nodes that the user has not named, which are never contacted.
    const std::string& not_contacted() const { return not_contacted_; }

    /// See SlurmWatch::is_really_over; always true for a run outside Slurm.
    bool is_really_over(const std::function<bool()>& given_up);
    /// Returns for how many seconds after the end of the run Slurm may still report how its job ended; 0 for
    /// a run outside Slurm.
    double last_word_s() const;

  private:
    std::string not_contacted_;
    std::unique_ptr<RunMirror> mirror_;
    std::unique_ptr<SlurmWatch> slurm_;
};

/// Logs in to each node without a session in `sessions` (one per node of the run), so that the user can be
/// asked at once. Calls `complain` for nodes that cannot be reached (the mirror retries them) and for those
/// that the user has not named. Returns null if the run is not pending.
std::unique_ptr<RunFollower> follower_of(const RunDirectory& run, const SshPerson& person,
                                         const std::function<void(const std::string&)>& complain,
                                         Sessions sessions = {});

/// Updates the states of all pending runs of this machine's Slurm, with one call of squeue per cluster.
/// Returns false if none is in Slurm. Throws Error(Unreachable).
bool settle_open_runs(const std::vector<RunDirectory>& runs);

}  // namespace ringmaster
