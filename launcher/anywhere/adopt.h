/// A run that another machine launched: found on one of its nodes, and mirrored here from then on. Finding it
/// starts and stops nothing, and as many machines may follow a run as like to.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "launcher/anywhere/runs_there.h"
#include "launcher/ssh/prompt.h"

namespace ringmaster {

struct Adopted {
    RunDirectory run;     ///< here
    bool is_new = false;  ///< it was not here before
    size_t asked = 0;     ///< which of its nodes it was found on
};

/// `name` is the run's, or `ID/NAME` where several of that name are there. `nodes` is one of the machines
/// that the run is on, or all of them in its order. A node that is not among them is not contacted, now or
/// later (RemoteRun::not_contacted_text says so); naming it another time adds it. The agent of each is found
/// in that node's own data folder. config.yaml and plan.json of a run that is new here are copied once; its
/// output_dir is a folder of the run directory here. A run that is here already (launched here, or adopted
/// before) is brought up to date. Throws Error(Unreachable), Error(Usage) naming the runs that are there,
/// Error(Refused) for one in Slurm.
Adopted adopt_run(const std::string& name, const std::vector<std::string>& nodes,
                  const std::filesystem::path& runs_dir, const SshPerson& person);

/// The same with a session that there is, with the first of `nodes`.
Adopted adopt_run(SshSession& session, const std::string& name, const std::vector<std::string>& nodes,
                  const std::filesystem::path& runs_dir, const SshPerson& person);

}  // namespace ringmaster
