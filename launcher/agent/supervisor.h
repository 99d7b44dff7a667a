/// Supervises a run on this machine: starts its ranks, waits for events, ends the ranks and
/// records how the run ended.
///
///     running ── SIGTERM ──▶ stopping: SIGTERM to the ranks, which save; no time limit
///        │                      │
///        │ a rank fails, or     │ SIGUSR1, SIGTERM again: SIGKILL at once
///        ▼ is stopped for 10 s  ▼
///     grace time for others' last messages, SIGKILL ──▶ completed, failed or stopped, written to run.json;
///                                                      or the next attempt, if restarts are left
///
/// The supervisor signals only children that are not reaped yet: their pids cannot belong to other processes.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "engine/events/progress.h"
#include "launcher/agent/descriptor.h"
#include "launcher/agent/fleet.h"
#include "launcher/agent/node_messages.h"
#include "launcher/agent/options.h"
#include "launcher/agent/run_file.h"
#include "launcher/agent/stop_clock.h"
#include "launcher/agent/verdict.h"

namespace ringmaster {

class Supervisor {
  public:
    /// `previous` is the run's earlier state, read from run.json.
    Supervisor(const AgentOptions& options, const RunState& previous);

    /// Starts the ranks. Throws Error if a rank cannot be started or run.json cannot be written; nothing runs
    /// then, and run.json says so.
    void start();

    /// Returns ADDRESS:STORE_PORT:AGENT_PORT for the other nodes' agents.
    std::string meeting_place() const;

    /// Supervises the run until it ends; returns how it ended. SIGTERM, SIGINT, SIGUSR1 and SIGCHLD must be
    /// blocked.
    RunPhase supervise();

  private:
    using Clock = std::chrono::steady_clock;

    struct Rank {
        pid_t pid = 0;
        bool alive = false;
        RankOffsets from;
        StopClock stop_clock;
        RankEnd end;
    };

    void leave_timeline();
    std::string resume_again() const;
    void start_ranks();
    void watch_ranks();
    bool restart_after(const RunVerdict& verdict);
    void wait_for_signals();
    void on_signal(int signal);
    void ask_to_stop();
    void begin_end(Trigger trigger, std::chrono::milliseconds grace);
    void reap();
    void reap(Rank& rank);
    void look_for_stopped();
    void note_places();
    void on_deadline();
    void kill_ranks();
    bool some_alive() const;
    void open_fleet();
    void hear_nodes();
    void tell(const NodeMessage& message);
    void hear(int node, const NodeHere& here);
    void hear(int node, const RanksEnded& ended);
    void hear(int node, const RunOver& over);
    void hear(int node, const StopWanted& wanted);
    void hear(int node, const RankFailed& failed);
    void hear(int node, const PeerLost& peer);
    bool waits_for_nodes();
    RunPhase end_as_other_node();
    std::string name_of(int node) const;
    RunVerdict verdict();
    void tell_ranks(const RunVerdict& verdict) const;
    void set_state(RunPhase phase, Reason why);
    void end_with(const RunVerdict& verdict);

    AgentOptions options_;
    RunState state_;
    RunFile file_;
    Descriptor signals_;
    std::optional<ProgressTable> progress_;
    std::vector<Rank> ranks_;
    int64_t memory_kills_before_ = 0;
    int restarts_left_;
    /// Step that the user asked to resume from; set once later checkpoints are set aside
    std::optional<int64_t> left_at_;
    bool stop_requested_ = false;
    bool killed_ = false;
    Trigger trigger_ = Trigger::None;
    /// End of the grace time; later, time by which killed ranks must have ended
    std::optional<Clock::time_point> deadline_;

    struct OtherNode {
        NodeState state;
        bool here = false, ended = false;
        std::vector<RankEnd> ranks;
    };
    std::optional<Fleet> fleet_;  ///< set if the run has several nodes
    int store_port_ = 0;
    std::vector<OtherNode> others_;  ///< node 0 only; indexed by node, entry 0 unused
    std::optional<ReasonPart> lost_node_;
    std::optional<Clock::time_point> patience_;  ///< deadline for the other nodes to arrive, or to end
    std::optional<RunVerdict> told_;             ///< verdict that node 0 sent
};

}  // namespace ringmaster
