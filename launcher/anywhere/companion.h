/// A run that lives elsewhere, followed and stopped: its local run directory kept as it is there, its job of
/// Slurm looked at now and then. Nothing here starts anything.
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
    /// `sessions` of its nodes, as far as there are any; missing ones are opened by the mirror itself.
    RunCompanion(const RunDirectory& run, std::vector<std::unique_ptr<SshSession>> sessions,
                 const SshPerson& person);

    /// "fetching model.safetensors …", "Slurm job 42 waits: Resources", or why Slurm is not heard; else
    /// empty.
    std::string job_note() const;
    std::string trouble() const;  ///< why a node is not heard; empty: all are that the person named
    const std::string& not_contacted() const { return not_contacted_; }  ///< the others, and how to name them

    /// See SlurmWatch; true for a run that is no job of Slurm.
    bool is_really_over(const std::function<bool()>& given_up);

  private:
    std::string not_contacted_;
    std::unique_ptr<RunMirror> mirror_;
    std::unique_ptr<SlurmWatch> slurm_;
};

/// Of a run that is not over, or of whose end Slurm has still to be asked, and that nothing on this machine
/// keeps up to date by itself.
bool needs_companion(const RunDirectory& run);

/// Logs in at once, where there is no session in `sessions` (by the run's nodes), so that the person can be
/// asked; `complain` hears which node could not be reached (it is tried again by itself), and which are not
/// contacted because nobody has named them. Empty where none is needed.
std::unique_ptr<RunCompanion> companion_of(const RunDirectory& run, const SshPerson& person,
                                           const std::function<void(const std::string&)>& complain,
                                           std::vector<std::unique_ptr<SshSession>> sessions = {});

/// request_stop of launcher/local_node.h, wherever the run lives.
bool stop_anywhere(const RunDirectory& run, StopHow how, const SshPerson& person);

/// Brings run.json up to date where the run's job of Slurm is over. Throws Error(Unreachable).
void settle_anywhere(const RunDirectory& run, const SshPerson& person);

/// As settle_anywhere for all runs that are not over, with one squeue on this machine. False where none of
/// them is in Slurm. Throws Error(Unreachable).
bool settle_open_runs(const std::vector<RunDirectory>& runs);

}  // namespace ringmaster
