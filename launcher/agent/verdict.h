/// Decides how a run ended and why, from how each rank ended. This file contains only rules and starts no
/// processes.
///
/// The verdict blames the rank that failed first, not ranks that only lost their connection to it. Ranks that
/// report a lost peer come last. Among the others, ranks killed by a signal come before ranks that exited by
/// themselves, and ranks that ended earlier before ranks that ended later. A rank that was stopped and not
/// continued comes before all of these. A rank whose wait timed out names the rank that it waited for; the
/// ranks that kept it waiting are those that do not wait themselves.
#pragma once

#include <string>
#include <vector>

#include "engine/events/run_state.h"
#include "launcher/agent/rank_record.h"

namespace ringmaster {

/// Says what made the agent end the ranks; the first trigger counts.
enum class Trigger {
    None,          ///< the ranks ended by themselves
    RankFailed,    ///< a rank of this node failed
    StopTooEarly,  ///< the stop request killed a rank that could not save yet
    StopNow,
    OtherNode,  ///< a rank failed on another node, or that node was lost
};

struct RankEnd {
    int rank = 0;
    int wait_status = 0;  ///< exit status as waitpid gives it
    bool killed_by_us = false;
    bool unkillable = false;  ///< true if the process still exists 8 s after SIGKILL
    double t = 0;             ///< time at which the rank ended, Unix seconds
    std::string stopped;  ///< signal such as "SIGSTOP", if the run ended because the signal stopped this rank
    Reason place;  ///< where the rank was when the run ended: " is at work in layer 12, hop 4 (…)", as parts
    bool waits = false;  ///< true if the rank was waiting there for another rank
    RankRecord record;
};

struct Ending {
    Trigger trigger = Trigger::None;
    bool stop_requested = false;            ///< true if SIGTERM was sent to the ranks
    bool kernel_killed_for_memory = false;  ///< true if the kernel killed a process for lack of memory
    std::optional<ReasonPart> lost_node;    ///< says which node is gone or silent
    bool disk_full = false;                 ///< true if the disk of the run directory is full
    std::vector<RankEnd> ranks;             ///< ranks in order, from 0
};

struct RunVerdict {
    RunPhase state = RunPhase::Failed;
    Reason why;
    std::string code = {};  ///< code of a failure, as in run.json
    int failed_rank = -1;   ///< rank that the failure began with; -1: none or not known
};

/// Returns true if a rank with this exit status makes the run fail. Death by SIGTERM after a stop request
/// does not.
bool has_failed(int wait_status, bool stop_requested);

/// Returns the part "rank 2 was stopped by SIGSTOP and not continued for 10 s".
ReasonPart stopped_part(const RankEnd& end);

RunVerdict judge(const Ending& ending);

}  // namespace ringmaster
