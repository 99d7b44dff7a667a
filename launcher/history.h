/// A run's events as a person looks at them over its whole length: followed by byte offset like RunFollower,
/// kept as columns. Of a long run the first read already has the end and samples of the rest; what lies
/// between is filled in by the reads that follow. One thread reads and asks; nothing is locked.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/events/event_log.h"
#include "engine/events/run_state.h"
#include "launcher/run_directory.h"
#include "launcher/step_columns.h"

namespace ringmaster {

/// What one rank has told.
struct RankHistory {
    int rank = 0;
    StepColumns steps;
    int64_t last_step = 0;            ///< of the newest line: after a resume earlier than steps.last()
    double last_heard = 0;            ///< Unix seconds of the newest line of any kind; 0: never
    std::optional<HelloEvent> hello;  ///< of the newest attempt
    std::optional<PhaseEvent> phase;  ///< the newest
    double phase_since = 0;
    std::optional<DeviceEvent> device;
    int64_t odd_lines = 0;  ///< steps that cannot be, left out
};

/// Something that happened beside the steps, as a line for the log.
struct Happening {
    double t = 0;
    int rank = 0;
    Event event;  ///< anything but a step or a device's figures
};

struct ReadProgress {
    int64_t read_bytes = 0, total_bytes = 0;
    bool whole() const { return read_bytes >= total_bytes; }
};

class RunHistory {
  public:
    /// Throws Error where there is no run.json, or it is damaged.
    explicit RunHistory(RunDirectory run);

    /// Reads for about `budget`, the newest first. True where anything came. A directory that cannot be read
    /// any more keeps what is known and says so in problem().
    bool read(std::chrono::milliseconds budget);

    const RunDirectory& run() const { return run_; }
    const RunState& state() const { return state_; }
    const std::string& problem() const { return problem_; }  ///< why run.json cannot be read; empty: it can
    ReadProgress progress() const;

    const std::vector<RankHistory>& ranks() const { return ranks_; }
    int64_t first_step() const;  ///< 1 where there is none
    int64_t last_step() const;   ///< of the newest attempt: the greatest of any rank; 0: none
    const std::map<int64_t, std::pair<double, EvalEvent>>& evaluations() const { return evaluations_; }
    const std::map<int64_t, CheckpointEvent>& checkpoints() const { return checkpoints_; }
    /// By time; the last few thousand at most, an error never dropped.
    const std::vector<Happening>& happenings() const { return happenings_; }
    /// Those that came since the last call, in the order in which they were read.
    std::vector<Happening> take_news();
    const std::optional<Happening>& first_error() const { return first_error_; }  ///< of the newest attempt
    double last_heard() const;                                                    ///< of any rank
    int64_t events() const { return events_; }
    size_t bytes() const;  ///< of memory that the events take

  private:
    struct Source {
        EventReader newest;                  ///< goes on where the file ended when it was first seen
        std::optional<EventReader> backlog;  ///< from the beginning up to there
        int64_t backlog_end = 0;
        StepRange newest_steps{1, 0};  ///< that came from `newest`: what the backlog tells of them is older
    };
    void read_state();
    void look_for_ranks();
    Source open_source(RankHistory& rank) const;
    bool read_newest();
    bool read_backlog(std::chrono::steady_clock::time_point until);
    std::vector<size_t> next_backlogs() const;
    void take(size_t rank, const std::vector<EventLine>& lines, bool is_newest);
    void take_step(size_t rank, const EventLine& line, const StepEvent& step, bool is_newest);
    void take_other(RankHistory& rank, const EventLine& line, bool is_newest);
    void note(const EventLine& line);

    RunDirectory run_;
    RunState state_;
    std::string problem_;
    std::vector<RankHistory> ranks_;
    std::vector<Source> sources_;
    std::map<int64_t, std::pair<double, EvalEvent>> evaluations_;
    std::map<int64_t, CheckpointEvent> checkpoints_;
    std::vector<Happening> happenings_, news_;
    std::optional<Happening> first_error_;
    int64_t events_ = 0;
};

}  // namespace ringmaster
