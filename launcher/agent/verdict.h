/// How a run ended and why, from what became of each rank: no processes here, only the rules.
///
/// The run fails by the rank that failed first, not by those that only lost it: a rank whose own words are
/// about a lost peer comes last, then ranks killed by a signal come before ranks that ended themselves, then
/// the earlier before the later. Before all of them comes a rank that was stopped and not continued. A rank
/// that waited in vain names the one that it waited for; who kept it waiting is a rank that does not wait
/// itself.
#pragma once

#include <string>
#include <vector>

#include "engine/events/run_state.h"
#include "launcher/agent/rank_record.h"

namespace ringmaster {

/// What made the agent end the ranks; the first counts.
enum class Trigger {
    None,          ///< they ended by themselves
    RankFailed,    ///
    StopTooEarly,  ///< asked to stop, a rank died of it: it could not save yet
    StopNow,
    OtherNode,  ///< something happened on another node
};

struct RankEnd {
    int rank = 0;
    int wait_status = 0;  ///< as waitpid gives it
    bool killed_by_us = false;
    bool unkillable = false;  ///< still there seconds after SIGKILL
    double t = 0;             ///< Unix seconds
    std::string stopped;      ///< "was stopped by SIGSTOP", where that ended the run
    std::string place;        ///< when the end of the run began: "is at work in layer 12, hop 4 (…)"
    bool waits = false;       ///< for another rank, there
    RankRecord record;
};

struct Ending {
    Trigger trigger = Trigger::None;
    bool stop_requested = false;            ///< SIGTERM was sent to the ranks
    bool kernel_killed_for_memory = false;  ///< its out-of-memory killer was at work during the run
    std::string lost_node;                  ///< that another node is gone or silent, in a sentence
    bool disk_full = false;                 ///< of the run directory
    std::vector<RankEnd> ranks;             ///< by rank, 0 first
};

struct Verdict {
    RunPhase state = RunPhase::Failed;
    std::string reason;
    std::string code = {};  ///< of a failure, as in run.json
    int failed_rank = -1;   ///< that it began with; -1: none, or not known
};

/// True for an exit that fails the run: dying of a SIGTERM is none once it was sent.
bool has_failed(int wait_status, bool stop_requested);

Verdict judge(const Ending& ending);

}  // namespace ringmaster
