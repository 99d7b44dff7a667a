/// A run that lives on other machines. The local run directory mirrors it; remote.json there says where it
/// is:
///
///     {"ranks": 4, "nodes": [{"target", "run_dir", "agent", "first_rank", "ranks", "output_dir"}, …]}
#pragma once

#include <string>
#include <vector>

#include "engine/plan/plan.h"
#include "launcher/local_node.h"
#include "launcher/machine_figures.h"
#include "launcher/nodes/fleet.h"
#include "launcher/places.h"
#include "launcher/progress.h"
#include "launcher/run_directory.h"

namespace ringmaster {

struct RemoteNode {
    std::string target;   ///< as the person named it
    std::string run_dir;  ///< there
    std::string agent;    ///< there: the program
    std::string address;  ///< at which the others reach it
    int first_rank = 0, ranks = 0;
};

struct RemoteRun {
    int ranks = 0;
    std::vector<RemoteNode> nodes;  ///< node 0 first

    std::string output_dir() const { return nodes.front().run_dir + "/output"; }
    /// The engine on node 0: beside its agent.
    std::string engine() const {
        return std::filesystem::path(nodes.front().agent).parent_path().string() + "/ringmaster-engine";
    }
};

bool is_remote(const RunDirectory& run);
RemoteRun read_remote_run(const RunDirectory& run);  ///< throws Error

/// The machine that a plan for these nodes is made for: all their GPUs, the least memory.
Machine machine_of(const std::vector<Node>& nodes);

/// Where a run would be on these nodes, ranks spread evenly. Throws Error(Usage) where they cannot be.
RemoteRun lay_out(const std::vector<Node>& nodes, const RunDirectory& run, const Plan& plan,
                  const Places& places);

/// A run whose files are all reached through one node, while its ranks are on others (a cluster's shared file
/// system).
RemoteRun lay_out_at_login(const Node& login, const RunDirectory& run, int ranks, const Places& places);

/// The agents' exact commands; the ports are chosen at the start.
std::vector<StartCommand> agent_commands(const RemoteRun& remote, int attempt, const std::string& resume);

/// Programs, model, tokens and run directory to every node, all at once; writes remote.json. What is there
/// already is not sent.
void place_run(std::vector<Node>& nodes, const RemoteRun& remote, const RunDirectory& run,
               const Places& places, const Progress& progress);

/// The engine and its agent on a node, with the link to that node's LibTorch; what is there already is not
/// sent. The folder that they are in.
std::string bring_programs(Node& node, const Places& places, const Progress& progress);

/// Measures a node with the engine that is brought there (launcher/machine_figures.h). Throws
/// Error(Unreachable), Cancelled: the engine there ends by itself then, within seconds.
Calibration calibrate_there(Node& node, const Machine& machine, bool cuda, const Places& places,
                            const Progress& progress);

/// Starts the agents, node 0's first. Throws Error(Unreachable) where one does not come up; nothing runs
/// then.
void start_remote(std::vector<Node>& nodes, const RemoteRun& remote, int attempt, const std::string& resume);

/// Asks node 0's agent. False where the run is over already.
bool request_remote_stop(SshSession& first, const RemoteRun& remote, StopHow how);

/// The newest complete checkpoint (or that of `step`), brought to the local run directory, from where a
/// resume sends it to every node. Empty: there is none.
void fetch_checkpoint(SshSession& first, const RemoteRun& remote, const RunDirectory& run,
                      std::optional<int64_t> step, const Progress& progress);

}  // namespace ringmaster
