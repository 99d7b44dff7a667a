/// Adopts a run that another machine launched: finds it on one of its nodes and mirrors it here from then on.
/// This starts and stops nothing, and any number of machines may follow a run.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "launcher/backends/runs_there.h"
#include "launcher/ssh/prompt.h"

namespace ringmaster {

struct Adopted {
    RunDirectory run;     ///< local run directory
    bool is_new = false;  ///< true: this machine did not have the run before
    size_t asked = 0;     ///< index of the node on which it was found
};

/// Adopts the run called `name`, or `ID/NAME` if several runs have that name. `nodes` is one of the run's
/// machines, or all of them in the run's order. A node that is not named is never contacted
/// (RemoteRun::not_contacted_text says so); a later call can name it. Each agent is found in its node's own
/// data folder. For a run that is new here, config.yaml and plan.json are copied once, and output_dir
/// becomes a folder of the run directory here. A run that is here already (launched here or adopted) is
/// updated. Throws Error(Unreachable), Error(Usage) with the runs that exist there, Error(Refused) for a run
/// in Slurm.
Adopted adopt_run(const std::string& name, const std::vector<std::string>& nodes,
                  const std::filesystem::path& runs_dir, const SshPerson& person);

/// Adopts a run in the same way, but over an existing session to the first of `nodes`.
Adopted adopt_run(SshSession& session, const std::string& name, const std::vector<std::string>& nodes,
                  const std::filesystem::path& runs_dir, const SshPerson& person);

}  // namespace ringmaster
