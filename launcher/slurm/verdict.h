/// What became of a run whose Slurm job has ended, or has gone back into the queue, without the run's own
/// last word; and what Slurm knows of an end that the run cannot know.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/events/run_state.h"
#include "launcher/run_directory.h"
#include "launcher/slurm/queue.h"

namespace ringmaster {

struct RunTraces {
    std::optional<int64_t> checkpoint;  ///< the newest that was saved
    std::string error;                  ///< the first error event of this attempt: "rank 1: …"
    std::string error_code;             ///< its code
    std::string lost_rank;  ///< the first rank that ended, where it was not by itself: "rank 1 on n3: Killed"
    std::string last_words;   ///< the end of agent.log
    bool stop_asked = false;  ///< by `ringmaster stop`
    bool preempted = false;   ///< as the job's log says
};

/// From the events in the run directory, and agent.log's text as it is where the job writes it.
RunTraces traces_of(const RunDirectory& run, const RunState& state, const std::string& job_log);

/// The state as it should be; empty where it is right as it stands. `status` is of a job that is over (then
/// from end_of) or waits.
std::optional<RunState> judge(const RunState& before, const JobStatus& status, const JobId& job,
                              const RunTraces& traces);

}  // namespace ringmaster
