/// A run that has failed starts again: by whom, and over several nodes on which of them and on what mesh. The
/// same for the command line and the app.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launcher/anywhere/launch.h"

namespace ringmaster {

/// Who starts a failed run again.
enum class Restarter {
    Agent,     ///< of one machine, here or by SSH: it needs nobody else
    Follower,  ///< the program that launched it over several nodes, as long as it follows the run
    Slurm,     ///< by its own rules
};
Restarter restarter_of(const Destination& to);

struct RestartWish {
    int restarts = 0;         ///< at most so often
    bool may_shrink = false;  ///< on fewer nodes, without asking
};

/// As the run was asked for, where the program that follows it restarts it; else none.
RestartWish restart_wish_of(const RunDirectory& run);

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

/// Whether to go on with what is left; the answer may take an hour. Empty: nobody says yes.
using AgreeToShrink = std::function<bool(const NodesLeft&, const Shrunk&)>;

/// What is left of the nodes, and the smaller run where some are lost and that is agreed.
struct WayOn {
    NodesLeft left;
    std::optional<Shrunk> shrunk;
};

/// As nodes_left and shrink. Throws Error(Unreachable) naming the lost nodes where nobody agrees.
WayOn find_way_on(const RunDirectory& run, std::chrono::seconds patience, const AgreeToShrink& agree,
                  const Places& places, const SshPerson& person, const Progress& progress);

/// prepare_comeback on what is left: all nodes, or `shrunk`.
Comeback prepare_comeback_on(Reached at, const RunDirectory& run, const Shrunk* shrunk, const Places& places,
                             const Progress& progress);

/// prepare_comeback; a run over several nodes of which some are not reached goes on with those that are left
/// where `agree` says so. That is for a run that is to go on as it was: not with options of its own.
Comeback prepare_comeback_or_shrink(const RunDirectory& run, const ResumeOptions& options,
                                    const SlurmOptions& slurm, const AgreeToShrink& agree,
                                    const Places& places, const SshPerson& person, const Progress& progress);

/// Starts a run that has failed again, from its newest complete checkpoint, on what is left of its nodes; it
/// waits 30 s for one that is missing. Throws as find_way_on and come_back do.
Comeback restart_run(const RunDirectory& run, const AgreeToShrink& agree, const Places& places,
                     const SshPerson& person, const Progress& progress);

}  // namespace ringmaster
