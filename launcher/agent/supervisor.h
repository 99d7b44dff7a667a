/// The life of a run on this machine: starts its ranks, waits for what happens, ends them,
/// says how it ended.
///
///     running ── SIGTERM ──▶ stopping: SIGTERM to the ranks, which save; no time limit
///        │                      │
///        │ a rank fails, or     │ SIGUSR1, SIGTERM again: SIGKILL at once
///        ▼ is stopped for 10 s  ▼
///     a grace for the others' own words, SIGKILL ──▶ completed, failed or stopped, written to run.json;
///                                                   or the next attempt, where restarts are left
///
/// Only children that are not reaped yet are ever signalled: their pids cannot be anybody else's.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "engine/events/progress.h"
#include "launcher/agent/descriptor.h"
#include "launcher/agent/fleet.h"
#include "launcher/agent/options.h"
#include "launcher/agent/run_file.h"
#include "launcher/agent/stop_clock.h"
#include "launcher/agent/verdict.h"

namespace ringmaster {

class Supervisor {
  public:
    /// `previous` is what run.json said before.
    Supervisor(const AgentOptions& options, const RunState& previous);

    /// Throws Error where a rank cannot be started or run.json not be written; nothing runs then, and
    /// run.json says so.
    void start();

    /// Of a run on several nodes: what the other agents are told, ADDRESS:STORE_PORT:AGENT_PORT.
    std::string meeting_place() const;

    /// Until the end. SIGTERM, SIGINT, SIGUSR1 and SIGCHLD are blocked by then.
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
    bool restart_after(const Verdict& verdict);
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
    void hear(const FleetMessage& message);
    void hear_as_first(const FleetMessage& message);
    void lose_node(int node, const std::string& how);
    void tell_failure();
    bool waits_for_nodes();
    RunPhase end_as_other_node();
    std::string name_of(int node) const;
    Verdict verdict();
    void tell_ranks(const Verdict& verdict) const;
    void set_state(RunPhase phase, const std::string& reason);
    void end_with(const Verdict& verdict);

    AgentOptions options_;
    RunState state_;
    RunFile file_;
    Descriptor signals_;
    std::optional<ProgressTable> progress_;
    std::vector<Rank> ranks_;
    int64_t memory_kills_before_ = 0;
    int restarts_left_;
    std::optional<int64_t> left_at_;  ///< the step that was asked for, after the later ones were set aside
    bool stop_requested_ = false;
    bool killed_ = false;
    Trigger trigger_ = Trigger::None;
    std::optional<Clock::time_point> deadline_;  ///< of the grace, then of the kernel's ending the killed

    struct OtherNode {
        NodeState state;
        bool here = false, ended = false;
        std::vector<RankEnd> ranks;
    };
    std::optional<Fleet> fleet_;  ///< of a run on several nodes
    int store_port_ = 0;
    std::vector<OtherNode> others_;  ///< node 0's; by node, itself unused
    std::string lost_node_;
    std::optional<Clock::time_point> patience_;  ///< for the other nodes to come, or to end
    std::optional<Verdict> told_;                ///< by node 0
};

}  // namespace ringmaster
