/// Follows a run directory by byte offset: run.json and the events of every rank, merged. All facts are on
/// the disk, so a follower that starts late or loses its connection loses nothing. Following never changes
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

/// The events of one rank so far.
struct RankProgress {
    int rank = 0;
    std::optional<HelloEvent> hello;  ///< hello event of the newest attempt
    std::optional<PhaseEvent> phase;
    std::optional<DeviceEvent> device;
    std::vector<TimedStep> steps;  ///< ascending; a repeated step replaces the earlier one

    const TimedStep* last() const { return last_step >= 0 ? find(last_step) : nullptr; }
    const TimedStep* find(int64_t step) const;
    int64_t last_step = -1;  ///< step of the newest line; lower than the greatest after a resume
};

class RunFollower {
  public:
    /// `kept_steps` is how many of each rank's last steps are kept at least (a terminal needs few, a chart
    /// needs all).
    explicit RunFollower(RunDirectory run, size_t kept_steps = std::numeric_limits<size_t>::max());

    /// Reads the state and the new events, ordered by time. Call it until it returns nothing: one call reads
    /// at most 16 MiB. Once the run is over, an empty answer means the end. Throws Error if run.json is
    /// gone.
    std::vector<EventLine> poll();

    const RunDirectory& run() const { return run_; }
    const RunState& state() const { return state_; }
    const std::vector<RankProgress>& ranks() const {
        return ranks_;
    }  ///< ranks of the current attempt, as many as run.json says
    const std::optional<EvalEvent>& last_eval() const { return last_eval_; }
    const std::optional<CheckpointEvent>& last_checkpoint() const { return last_checkpoint_; }
    const std::vector<WarningEvent>& warnings() const { return warnings_; }  ///< newest, each message once

  private:
    void look_for_ranks();
    void take(const EventLine& line);
    void take_step(RankProgress& rank, const EventLine& line, const StepEvent& step);

    RunDirectory run_;
    size_t kept_steps_;
    RunState state_;
    std::vector<EventReader> readers_;
    size_t next_reader_ = 0;  ///< reader to start with in the next poll, so that no rank waits for a busy one
    std::vector<RankProgress> ranks_;
    std::optional<EvalEvent> last_eval_;
    std::optional<CheckpointEvent> last_checkpoint_;
    std::vector<WarningEvent> warnings_;
};

/// The run summarized in one line.
struct Headline {
    int64_t step = 0;
    std::optional<int64_t> total_steps;
    std::optional<double> loss;
    std::optional<double> eta_s;         ///< seconds left; nullopt once the run is over
    std::optional<double> tokens_per_s;  ///< rank 0's, over the last steps
    std::optional<double>
        overhead;  ///< exposed communication ÷ step time, mean over ranks and the last steps
    std::optional<double> lr, grad_norm;
    std::string phase;  ///< phase other than training ("load", "export"); empty while it trains
};

Headline headline(const RunFollower& run, std::optional<int64_t> total_steps);

/// Returns exposed_comm_s ÷ step_s over a rank's last steps; nullopt if it has none.
std::optional<double> overhead_of(const RankProgress& rank);

/// Returns the whole lines added to a text file (a rank's log) since the last call, each cut to 8 KiB.
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
