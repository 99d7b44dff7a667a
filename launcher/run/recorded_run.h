/// Reads a run's event files, completely or in parts. A node's files may have any length. While all steps are
/// visited, at most kMostEventsHeld events are in memory at once; the files are read again for the events
/// that follow.
#pragma once

#include <functional>
#include <vector>

#include "engine/events/event.h"
#include "launcher/run/run_directory.h"

namespace ringmaster {

constexpr size_t kMostEventsHeld = 200'000;  ///< about 60 MB

template <class E>
struct Timed {
    double t = 0;  ///< Unix seconds
    E event;
};

/// Returns true for the event with which a rank says that the run is completed.
bool completes_run(const Event& event);

/// Updates the summary with the next event of rank 0.
void take_event(RunSummary& summary, const Event& event);

/// Returns the events in the complete lines of a part of an event file; none if it cannot be read.
std::vector<EventLine> events_in(const std::filesystem::path& file, int64_t offset, int64_t bytes);

/// Returns the steps in the complete lines of a part of an event file.
std::vector<StepEvent> steps_in(const std::filesystem::path& file, int64_t offset, int64_t bytes);
/// Returns a rank's events, or its steps alone, in the last `bytes` of its event file.
std::vector<EventLine> last_events(const RunDirectory& run, int rank, int64_t bytes);
std::vector<StepEvent> last_steps(const RunDirectory& run, int rank, int64_t bytes);

/// Returns the ranks that have an event file, ascending. Throws Error(Refused) if there is none.
std::vector<int> recorded_ranks(const RunDirectory& run);

/// Calls `visit` for each step of each given rank, ordered by step, then rank. If a step was reported twice,
/// the later line counts. Before that, calls `other`, if given, for each event of another kind as it is read.
void for_each_step(const RunDirectory& run, const std::vector<int>& ranks,
                   const std::function<void(int rank, const Timed<StepEvent>& step)>& visit,
                   size_t most_held = kMostEventsHeld,
                   const std::function<void(const EventLine& line)>& other = {});

/// Calls `visit` for each evaluation, ordered by step. All ranks report the same, so one rank is enough.
void for_each_evaluation(const RunDirectory& run, int rank,
                         const std::function<void(const Timed<EvalEvent>& evaluation)>& visit,
                         size_t most_held = kMostEventsHeld);

}  // namespace ringmaster
