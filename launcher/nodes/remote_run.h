/// Describes a run on other machines. The local run directory mirrors it; its file remote.json, which only
/// this machine writes, says where the run is. Every node has a copy next to the run, so that other machines
/// find the run, too:
///
///     {"ranks": 4, "adopted": false, "nodes": [{"target", "called", "run_dir", "agent", "address",
///      "first_rank", "ranks"}, …]}
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/plan/plan.h"
#include "launcher/base/places.h"
#include "launcher/base/progress.h"
#include "launcher/machine/machine_figures.h"
#include "launcher/nodes/fleet.h"
#include "launcher/run/local_node.h"
#include "launcher/run/run_directory.h"

namespace ringmaster {

struct RemoteNode {
    std::string target;   ///< name given by the user; empty: none, so the node is never contacted
    std::string run_dir;  ///< path on the node
    std::string agent;    ///< path of the program on the node
    std::string address;  ///< address at which other nodes reach it
    int first_rank = 0, ranks = 0;
    std::string called = {};  ///< for an adopted run: the launching machine's name for the node

    bool is_named() const { return !target.empty(); }
};

struct RemoteRun {
    int ranks = 0;
    std::vector<RemoteNode> nodes;  ///< node 0 first
    /// True if another machine launched the run: model, data and programs are only on the nodes.
    bool adopted = false;

    size_t lead() const;  ///< index of the first named node, which reports the run's state
    bool all_named() const;
    /// Throws Error(Usage) if the user did not name node `index`, which `command` ("stop") needs. The hint
    /// says what to type.
    void require_named(size_t index, const std::string& command, const std::string& run_name) const;
    /// Returns "node 1 of 2, which its launcher calls gpu2, is not contacted …" for each node that the user
    /// has not named, then a hint; empty if all are named.
    std::string not_contacted_text(const std::string& run_name) const;

    std::string output_dir() const { return nodes.front().run_dir + "/output"; }
    /// Returns the path of the engine on node 0, next to its agent.
    std::string engine() const {
        return std::filesystem::path(nodes.front().agent).parent_path().string() + "/ringmaster-engine";
    }
};

bool is_remote(const RunDirectory& run);
RemoteRun read_remote_run(const RunDirectory& run);  ///< throws Error
void write_remote_run(const RunDirectory& run, const RemoteRun& remote);
/// Parses a remote.json of this machine or of a node. Throws Error(Refused) with `where` unless there are 1
/// to 65,536 ranks, the nodes share them without a gap or an overlap, and names and paths have at most 1 KiB.
RemoteRun parse_remote_run(const std::string& text, const std::string& where);

/// Returns the files that a node appends to, relative to the run directory: agent log, events, rank logs, and
/// on the node of rank 0 the samples.
std::vector<std::string> record_files(const RemoteNode& node, size_t index);

/// Returns a node's state as this machine stores it: with this run's name, at most its number of ranks, and
/// the hosts named as the user named them.
RunState state_here(RunState told, const RemoteRun& remote, const RunDirectory& run);

/// Returns node 0's current run.json; nullopt if the run never began there. Throws Error(Unreachable).
std::optional<RunState> remote_state(SshSession& first, const RemoteRun& remote);

/// Returns the current run.json of any of its nodes; nullopt if the run never began there.
std::optional<RunState> node_state(SshSession& session, const RemoteNode& node, size_t index);

/// Returns the machine to plan for: all GPUs of the nodes, with the minimum of the nodes' memory and the
/// minimum of their cores.
Machine machine_of(const std::vector<Node>& nodes);

/// Spreads the ranks evenly over nodes. Throws Error(Usage) if that is impossible, Error(Unreachable) if a
/// node lacks GPUs.
RemoteRun lay_out(const std::vector<Node>& nodes, const RunDirectory& run, const Plan& plan,
                  const Places& places);

/// Lays out a run whose files are reached through one node while its ranks run on others (a cluster with a
/// shared file system).
RemoteRun lay_out_at_login(const Node& login, const RunDirectory& run, int ranks, const Places& places);

/// Returns the exact commands of the agents; ports are chosen at the start. `restarts` applies to a single
/// node only: its agent restarts the run by itself.
std::vector<StartCommand> agent_commands(const RemoteRun& remote, int attempt, const std::string& resume,
                                         int restarts);

/// Sends programs, model, tokens, checkpoints and run directory to all nodes at once, and writes remote.json.
/// Skips files that are there already. For an adopted run, sends only checkpoints and the run's token.
void place_run(std::vector<Node>& nodes, const RemoteRun& remote, const RunDirectory& run,
               const Places& places, const Progress& progress);

/// Sends each node the record files of its ranks that another node wrote before the ranks moved.
void bring_records(std::vector<Node>& nodes, const RemoteRun& remote, const RemoteRun& before,
                   const RunDirectory& run);

/// Sends the engine and its agent to a node and links them to that node's LibTorch; skips what is there
/// already. Returns their folder.
std::string bring_programs(Node& node, const Places& places, const Progress& progress);

/// Sends the engine to a node and measures the node (launcher/machine/machine_figures.h). Throws
/// Error(Unreachable), or Cancelled: then the engine there ends by itself within seconds.
Calibration calibrate_there(Node& node, const Machine& machine, const Calibrated& what, const Places& places,
                            const Progress& progress);

/// Starts the agents, node 0's first. If one does not start, stops node 0's again and throws
/// Error(Unreachable).
void start_remote(std::vector<Node>& nodes, const RemoteRun& remote, int attempt, const std::string& resume,
                  int restarts);

/// Ends an agent of this failed run that still runs on a node, and waits up to 20 seconds for its end. The
/// agent is identified by pid, start time and boot.
void end_leftovers(Node& node, const RemoteNode& there, size_t index);

/// Asks node 0's agent to stop the run. Returns false if the run is over already.
bool request_remote_stop(SshSession& first, const RemoteRun& remote, StopHow how);

}  // namespace ringmaster
