/// Restarts a failed run: decides which program does it and, for a run on several nodes, on which nodes and
/// with which mesh it continues. The command line and the app share this code.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launcher/backends/backend.h"
#include "launcher/nodes/facts.h"

namespace ringmaster {

/// A run that is ready to resume at its destination.
struct PreparedResume {
    std::unique_ptr<RunBackend> at;
    ResumedRun resumed;
};

/// Returns the requested restarts if the program that follows the run has to perform them; else none.
RestartLimits restart_limits_of(const RunDirectory& run);

struct NodesLeft {
    std::unique_ptr<RunBackend> at;  ///< the nodes that can still be reached
    std::vector<size_t> places;      ///< index of each of these nodes in the run's list
    std::vector<NodeReport> lost;    ///< the nodes that cannot be reached, with the reasons
};

/// Connects to the run's nodes, retrying missing ones for `patience`, and ends the failed run's agents that
/// still run there. Throws Error(Unreachable) if node 0, which holds the checkpoints, is lost, Error(Refused)
/// if the run has not ended, and Cancelled.
NodesLeft nodes_left(const RunDirectory& run, std::chrono::seconds patience, const Places& places,
                     const SshPerson& person, const Progress& progress);

/// A run on fewer nodes, with as many ranks on each as before.
struct Shrunk {
    RemoteRun remote;
    ResumeOptions options;
    Plan before, after;
};

/// Returns settings for `ranks` in place of the plan's ranks, best first: first those that keep the rows per
/// step, and so the losses. Within each of the two groups, settings with more ranks per sequence come first.
std::vector<std::vector<std::pair<std::string, std::string>>> shrink_settings(const Plan& before, int ranks);

/// Returns the run with the first of shrink_settings() whose plan has no errors and fits in memory. Throws
/// Error(Refused) with the first error if there is none, or if another machine launched the run.
Shrunk shrink(const RunDirectory& run, const NodesLeft& left, const Places& places);

/// Returns the changes, a line each: ranks, mesh, batch.
std::string shrink_text(const Shrunk& shrunk);

/// Asks the user to continue on fewer nodes; the answer may take an hour. An empty function means no.
using AgreeToShrink = std::function<bool(const NodesLeft&, const Shrunk&)>;

/// The nodes that are left, and the smaller run if nodes are lost and the user agreed.
struct Continuation {
    NodesLeft left;
    std::optional<Shrunk> shrunk;
};

/// Calls nodes_left() and shrink(). Throws Error(Unreachable) with the lost nodes if nobody agrees.
Continuation find_continuation(const RunDirectory& run, std::chrono::seconds patience,
                               const AgreeToShrink& agree, const Places& places, const SshPerson& person,
                               const Progress& progress);

/// Prepares a resume like prepare_resume; `slurm` holds new options for the job. A run on other machines
/// keeps its number of ranks: Error(Usage) otherwise. If some of its nodes cannot be reached and `agree`
/// returns true, continues on the others, unless the options name a checkpoint or change settings.
PreparedResume prepare_restart(const RunDirectory& run, const ResumeOptions& options,
                               const SlurmOptions& slurm, const AgreeToShrink& agree, const Places& places,
                               const SshPerson& person, const Progress& progress);

/// Restarts a failed run from its newest complete checkpoint on the nodes that are left; waits 30 s for a
/// missing node. Throws like find_continuation and RunBackend::prepare.
PreparedResume restart_run(const RunDirectory& run, const AgreeToShrink& agree, const Places& places,
                           const SshPerson& person, const Progress& progress);

}  // namespace ringmaster
