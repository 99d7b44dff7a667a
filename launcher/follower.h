/// Follows a run directory by byte offset: run.json and every rank's events, merged. The truth is on the
/// disk, so a follower that starts late or loses its connection loses nothing. Reading it never changes
/// anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "engine/events/event_log.h"
#include "engine/events/run_state.h"
#include "launcher/run_directory.h"

namespace ringmaster {

struct TimedStep {
    double t = 0;  ///< Unix seconds
    StepEvent event;
};

/// What one rank has said so far.
struct RankProgress {
    int rank = 0;
    std::optional<HelloEvent> hello;  ///< of the last attempt
    std::optional<PhaseEvent> phase;
    std::optional<DeviceEvent> device;
    std::vector<TimedStep> steps;  ///< by step; a later line of the same step has replaced the earlier

    const TimedStep* last() const { return last_step >= 0 ? find(last_step) : nullptr; }
    const TimedStep* find(int64_t step) const;
    int64_t last_step = -1;  ///< of the last line: after a resume earlier than the greatest
};

class RunFollower {
  public:
    /// `kept_steps`: how many of each rank's last steps are kept at least (a terminal needs few, a chart
    /// all).
    explicit RunFollower(RunDirectory run, size_t kept_steps = std::numeric_limits<size_t>::max());

    /// Reads the state and what came since, by time. Call again until it gives nothing: one call reads at
    /// most 16 MiB. Where the state is over, nothing comes after an empty answer. Throws Error where there is
    /// no run.json any more.
    std::vector<EventLine> poll();

    const RunDirectory& run() const { return run_; }
    const RunState& state() const { return state_; }
    const std::vector<RankProgress>& ranks() const {
        return ranks_;
    }  ///< of the current attempt: run.json's number
    const std::optional<EvalEvent>& last_eval() const { return last_eval_; }
    const std::optional<CheckpointEvent>& last_checkpoint() const { return last_checkpoint_; }
    const std::vector<WarningEvent>& warnings() const { return warnings_; }  ///< the last of them, each once

  private:
    void look_for_ranks();
    void take(const EventLine& line);
    void take_step(RankProgress& rank, const EventLine& line, const StepEvent& step);

    RunDirectory run_;
    size_t kept_steps_;
    RunState state_;
    std::vector<EventReader> readers_;
    size_t next_reader_ = 0;  ///< where the next poll begins, so that a busy rank hides none
    std::vector<RankProgress> ranks_;
    std::optional<EvalEvent> last_eval_;
    std::optional<CheckpointEvent> last_checkpoint_;
    std::vector<WarningEvent> warnings_;
};

/// The run in a line.
struct Headline {
    int64_t step = 0;
    std::optional<int64_t> total_steps;
    std::optional<double> loss;
    std::optional<double> eta_s;         ///< while it runs
    std::optional<double> tokens_per_s;  ///< over the last steps
    std::optional<double>
        overhead;  ///< exposed communication ÷ step time, mean over ranks and the last steps
    std::optional<double> lr, grad_norm;
    std::string phase;  ///< what it does beside training ("load", "export"), empty in training
};

Headline headline(const RunFollower& run, std::optional<int64_t> total_steps);

/// exposed_comm_s ÷ step_s over the last steps of a rank; empty where it has none.
std::optional<double> overhead_of(const RankProgress& rank);

/// Whole lines of a text file (a rank's log) that came since the last call, each cut to 8 KiB.
class LogFollower {
  public:
    explicit LogFollower(std::filesystem::path file, int64_t offset = 0)
        : file_(std::move(file)), offset_(offset) {}
    std::vector<std::string> poll(int64_t max_bytes = 1 << 20);

  private:
    std::filesystem::path file_;
    int64_t offset_;
};

}  // namespace ringmaster
