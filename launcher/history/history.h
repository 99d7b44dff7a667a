/// Reads a run: run.json, samples.jsonl and the events of every rank, which it keeps as columns. Follows the
/// files by byte offset. All facts are on the disk, so a reader that starts late or loses its connection
/// loses nothing. Reading never changes anything. Use it from one thread: it has no locks.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/events/event_log.h"
#include "engine/events/run_state.h"
#include "launcher/history/alert_feed.h"
#include "launcher/history/sample_file.h"
#include "launcher/history/step_columns.h"
#include "launcher/run/recorded_run.h"
#include "launcher/run/run_directory.h"

namespace ringmaster {

/// The events of one rank so far.
struct RankHistory {
    int rank = 0;
    StepColumns steps;
    int64_t peak_bytes = 0;           ///< highest peak memory of the steps that were read
    int64_t last_step = 0;            ///< step of the newest line; below steps.last() after a resume
    double last_heard = 0;            ///< Unix seconds of the newest line of any kind; 0: never
    std::optional<HelloEvent> hello;  ///< hello event of the newest attempt
    std::optional<PhaseEvent> phase;  ///< the newest phase
    double phase_since = 0;
    std::optional<DeviceEvent> device;
    int64_t odd_lines = 0;  ///< steps skipped because they are invalid
};

using TimedStep = Timed<StepEvent>;

/// An event other than a step, shown as a line of the log.
struct Happening {
    double t = 0;
    int rank = 0;
    Event event;  ///< any event but a step or a device's figures
};

struct ReadProgress {
    int64_t read_bytes = 0, total_bytes = 0;
    bool whole() const { return read_bytes >= total_bytes; }
};

class RunHistory {
  public:
    /// Keeps at least the last `kept_steps` steps of each rank (a terminal needs few, a chart needs all).
    /// Throws Error if run.json is missing or damaged.
    explicit RunHistory(RunDirectory run, int64_t kept_steps = StepColumns::kMostSteps);

    /// Reads for about `budget`, the newest events first. The first read of a long run gives its end and
    /// samples of the rest; later reads fill the gaps. Returns true if anything was read. If the directory
    /// becomes unreadable, keeps what is known and sets problem().
    bool read(std::chrono::milliseconds budget);

    /// Reads events from the first to the newest, for callers that never call read(). Returns the new ones,
    /// ordered by time. Call it until it returns nothing: one call reads at most 16 MiB. Once the run is
    /// over, an empty answer means the end. Throws Error if run.json is gone.
    std::vector<EventLine> poll();

    const RunDirectory& run() const { return run_; }
    const RunState& state() const { return state_; }
    const std::string& problem() const { return problem_; }  ///< why run.json cannot be read; empty if it can
    ReadProgress progress() const;

    const std::vector<RankHistory>& ranks() const { return ranks_; }
    int64_t first_step() const;  ///< 1 if there are no steps
    int64_t last_step() const;   ///< highest step of any rank in the newest attempt; 0: none
    const std::map<int64_t, std::pair<double, EvalEvent>>& evaluations() const { return evaluations_; }
    const std::map<int64_t, CheckpointEvent>& checkpoints() const { return checkpoints_; }
    /// Holds rank 0's first event of each attempt, which says from which step the attempt starts.
    const std::map<int, HelloEvent>& attempts() const { return attempts_; }
    /// Texts that the run wrote while it trained, as far as read() has read them.
    const std::map<int64_t, SamplesOfStep>& samples() const { return samples_.steps(); }
    /// Events by time, at most the last few thousand. New events of other kinds never displace an error.
    const std::vector<Happening>& happenings() const { return happenings_; }
    /// Returns the events since the last call in the order in which they were read: at most 1,000 events and,
    /// in addition, 1,000 errors.
    std::vector<Happening> take_news();
    /// Returns the newest event of a kind among the happenings; null if there is none.
    template <class E>
    const E* newest() const {
        for (auto one = happenings_.rbegin(); one != happenings_.rend(); ++one) {
            if (const auto* event = std::get_if<E>(&one->event)) return event;
        }
        return nullptr;
    }
    /// Alerts by time (launcher/alerts/detector.h). read() finds them once all events were read.
    const std::vector<Alert>& alerts() const { return alerts_.all(); }
    std::vector<Alert> take_alerts() { return alerts_.take_news(); }  ///< alerts since the last call
    /// First error of the newest attempt; nullopt if there is none
    const std::optional<Happening>& first_error() const { return first_error_; }
    double last_heard() const;                           ///< Unix seconds
    std::optional<double> duration_s(double now) const;  ///< seconds that all attempts ran; see figures.h
    int64_t events() const { return events_; }
    size_t bytes() const;  ///< memory used by the events, in bytes

  private:
    struct Source {
        EventReader newest;                  ///< continues from the end of the file as first seen
        std::optional<EventReader> backlog;  ///< reads what the file held before `newest` began
        int64_t backlog_end = 0;
        StepRange newest_steps{1, 0};  ///< steps read by `newest`; the backlog's copies are older
    };
    void read_state();
    void look_for_ranks(bool from_end);
    Source open_source(RankHistory& rank, bool from_end) const;
    bool read_newest();
    bool read_backlog(std::chrono::steady_clock::time_point until);
    std::vector<size_t> next_backlogs() const;
    void take(size_t rank, const std::vector<EventLine>& lines, bool is_newest);
    void take_step(size_t rank, const EventLine& line, const StepEvent& step, bool is_newest);
    void take_other(RankHistory& rank, const EventLine& line, bool is_newest);
    void note(const EventLine& line);
    bool silence_counts() const;

    RunDirectory run_;
    int64_t kept_steps_;
    RunState state_;
    std::string problem_;
    double ran_before_s_ = 0;
    int ran_before_attempt_ = 0;  ///< attempt for which ran_before_s_ was computed
    std::vector<RankHistory> ranks_;
    std::vector<Source> sources_;
    size_t next_source_ = 0;  ///< source that poll() starts with, so that no rank waits for a busy one
    std::map<int64_t, std::pair<double, EvalEvent>> evaluations_;
    std::map<int64_t, CheckpointEvent> checkpoints_;
    std::map<int, HelloEvent> attempts_;
    SampleFile samples_;
    AlertFeed alerts_;
    std::vector<Happening> happenings_, news_;
    std::optional<Happening> first_error_;
    int64_t events_ = 0;
};

}  // namespace ringmaster
