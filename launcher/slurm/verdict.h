/// Judges a run whose Slurm job ended, or was requeued, without the run recording it, and adds the facts
/// about its end that only Slurm knows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/events/run_state.h"
#include "launcher/run/run_directory.h"
#include "launcher/slurm/queue.h"

namespace ringmaster {

struct RunTraces {
    std::optional<int64_t> checkpoint;  ///< step of the newest checkpoint
    std::string error;                  ///< first error event of this attempt: "rank 1: …"
    std::string error_code;             ///< code of the first error event
    std::string lost_rank;              ///< first rank killed from outside: "rank 1 on n3: Killed"
    std::string last_words;             ///< end of agent.log
    bool stop_asked = false;            ///< true: `ringmaster stop` was used
    bool preempted = false;             ///< true: the job's log says that it was preempted
};

/// Collects the traces from the run's events and from the text of agent.log as the job wrote it.
RunTraces traces_of(const RunDirectory& run, const RunState& state, const std::string& job_log);

/// Returns the corrected state; nullopt if the state is right already. `status` must be from end_of if the
/// job is over.
std::optional<RunState> judge(const RunState& before, const JobStatus& status, const JobId& job,
                              const RunTraces& traces);

}  // namespace ringmaster
