/// A run that lives on other machines. The local run directory mirrors it; remote.json there says where it
/// is. It is written on this machine alone. A copy lies beside the run on every node, so that other machines
/// find it, too:
///
///     {"ranks": 4, "adopted": false, "nodes": [{"target", "called", "run_dir", "agent", "address",
///      "first_rank", "ranks"}, …]}
#pragma once

#include <optional>
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
    std::string target;   ///< as the person named it; empty: nobody has, and it is never contacted
    std::string run_dir;  ///< there
    std::string agent;    ///< there: the program
    std::string address;  ///< at which the others reach it
    int first_rank = 0, ranks = 0;
    std::string called = {};  ///< of an adopted run: as the machine that launched it names the node

    bool is_named() const { return !target.empty(); }
};

struct RemoteRun {
    int ranks = 0;
    std::vector<RemoteNode> nodes;  ///< node 0 first
    /// Launched from another machine: model, data and programs are on the nodes and not here.
    bool adopted = false;

    size_t lead() const;  ///< the first node that is named: it tells how the run is
    bool all_named() const;
    /// Throws Error(Usage), with what to type, where a node is not named and `what` needs it: "stop".
    void require_named(size_t index, const std::string& command, const std::string& run_name) const;
    /// "node 1 of 2 (its launcher calls it gpu2) is not contacted …", a line for each such node.
    std::string not_contacted_text(const std::string& run_name) const;

    std::string output_dir() const { return nodes.front().run_dir + "/output"; }
    /// The engine on node 0: beside its agent.
    std::string engine() const {
        return std::filesystem::path(nodes.front().agent).parent_path().string() + "/ringmaster-engine";
    }
};

bool is_remote(const RunDirectory& run);
RemoteRun read_remote_run(const RunDirectory& run);  ///< throws Error
void write_remote_run(const RunDirectory& run, const RemoteRun& remote);
/// Of a file here or on a node: 1 to 65,536 ranks, which the nodes share without a gap or an overlap, names
/// and paths of 1 KiB. Throws Error(Refused) naming `where`.
RemoteRun parse_remote_run(const std::string& text, const std::string& where);

/// The files that a node adds to, relative to the run directory: its agent's log, its ranks' events and logs.
std::vector<std::string> record_files(const RemoteNode& node, size_t index);

/// A state that a node told, as it is kept here: of this run's name, with no more ranks than it has, its
/// hosts called as the person named them.
RunState state_here(RunState told, const RemoteRun& remote, const RunDirectory& run);

/// run.json as node 0 reads it now; empty where the run has never begun there. Throws Error(Unreachable).
std::optional<RunState> remote_state(SshSession& first, const RemoteRun& remote);

/// The same as any of its nodes knows it.
std::optional<RunState> node_state(SshSession& session, const RemoteNode& node, size_t index);

/// The machine that a plan for these nodes is made for: all their GPUs, the least memory.
Machine machine_of(const std::vector<Node>& nodes);

/// Where a run would be on these nodes, ranks spread evenly. Throws Error(Usage) where they cannot be.
RemoteRun lay_out(const std::vector<Node>& nodes, const RunDirectory& run, const Plan& plan,
                  const Places& places);

/// A run whose files are all reached through one node, while its ranks are on others (a cluster's shared file
/// system).
RemoteRun lay_out_at_login(const Node& login, const RunDirectory& run, int ranks, const Places& places);

/// The agents' exact commands; the ports are chosen at the start. `restarts` are done by the agent of a
/// single node by itself.
std::vector<StartCommand> agent_commands(const RemoteRun& remote, int attempt, const std::string& resume,
                                         int restarts);

/// Programs, model, tokens, checkpoints and run directory to every node, all at once; writes remote.json.
/// What is there already is not sent; of an adopted run, checkpoints alone are.
void place_run(std::vector<Node>& nodes, const RemoteRun& remote, const RunDirectory& run,
               const Places& places, const Progress& progress);

/// Of a run that has changed its nodes since `before`: what the ranks of each have written so far.
void bring_records(std::vector<Node>& nodes, const RemoteRun& remote, const RemoteRun& before,
                   const RunDirectory& run);

/// The engine and its agent on a node, with the link to that node's LibTorch; what is there already is not
/// sent. The folder that they are in.
std::string bring_programs(Node& node, const Places& places, const Progress& progress);

/// Measures a node with the engine that is brought there (launcher/machine_figures.h). Throws
/// Error(Unreachable), Cancelled: the engine there ends by itself then, within seconds.
Calibration calibrate_there(Node& node, const Machine& machine, bool cuda, const Places& places,
                            const Progress& progress);

/// Starts the agents, node 0's first. Throws Error(Unreachable) where one does not come up; nothing runs
/// then.
void start_remote(std::vector<Node>& nodes, const RemoteRun& remote, int attempt, const std::string& resume,
                  int restarts);

/// Ends what an agent of this run, which has failed, still does on a node; waits for that, some seconds at
/// most. It is known by its pid, start time and boot.
void end_leftovers(Node& node, const RemoteNode& there, size_t index);

/// Asks node 0's agent. False where the run is over already.
bool request_remote_stop(SshSession& first, const RemoteRun& remote, StopHow how);

}  // namespace ringmaster
