/// A run on several nodes that has failed: which of them are left, and the mesh on which it goes on there.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "launcher/anywhere/launch.h"

namespace ringmaster {

struct NodesLeft {
    Reached at;                     ///< those that are left
    std::vector<size_t> places;     ///< of each in the run's list of nodes
    std::vector<std::string> lost;  ///< the others: "b: Connection refused"
};

/// Those that are missing are tried again for `patience`. What the failed run still does on the others is
/// ended. Throws Error(Unreachable) where node 0 is lost, which holds the checkpoints, Error(Refused) where
/// the run has not ended, Cancelled.
NodesLeft nodes_left(const RunDirectory& run, std::chrono::seconds patience, const Places& places,
                     const SshPerson& person, const Progress& progress);

/// A run on fewer nodes, with as many ranks on each as before.
struct Shrunk {
    RemoteRun remote;
    ResumeOptions options;
    Plan before, after;
};

/// Settings for `ranks` instead of the plan's, the best first: those that keep the rows of a step (and
/// thereby the losses), then those with the most ranks for each sequence.
std::vector<std::vector<std::pair<std::string, std::string>>> shrink_settings(const Plan& before, int ranks);

/// The first of those that makes a plan without errors. Throws Error(Refused) with the first error where
/// there is none, or where the run was launched from another machine.
Shrunk shrink(const RunDirectory& run, const NodesLeft& left, const Places& places);

/// What changes by it, in a line for each: ranks, mesh, batch, memory.
std::string shrink_text(const Shrunk& shrunk);

/// prepare_comeback on what is left: all nodes, or `shrunk`.
Comeback prepare_comeback_on(Reached at, const RunDirectory& run, const Shrunk* shrunk, const Places& places,
                             const Progress& progress);

}  // namespace ringmaster
