/// All that a run's event files hold, read at once: for exporting and comparing.
#pragma once

#include <map>
#include <vector>

#include "engine/events/event.h"
#include "launcher/run_directory.h"

namespace ringmaster {

template <class E>
struct Timed {
    double t = 0;
    E event;
};

struct RecordedRank {
    int rank = 0;
    std::map<int64_t, Timed<StepEvent>> steps;  ///< a later line of the same step has replaced the earlier
};

struct RecordedRun {
    std::vector<RecordedRank> ranks;                  ///< by rank
    std::map<int64_t, Timed<EvalEvent>> evaluations;  ///< by step
};

/// Every rank that has an event file. Throws Error(Refused) where there is none.
RecordedRun read_recorded_run(const RunDirectory& run);

}  // namespace ringmaster
