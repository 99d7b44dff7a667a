/// Following a run on other machines that may start again by itself: this process does that for a run on
/// several nodes, whose agents cannot send a checkpoint to each other.
#pragma once

#include "launcher/anywhere/launch.h"
#include "launcher/anywhere/restart.h"
#include "launcher/cli/live.h"

namespace ringmaster {

struct RestartWish {
    int restarts = 0;         ///< at most so often
    bool may_shrink = false;  ///< on fewer nodes, without asking
};

/// follow_to_end; where the run fails and restarts are left, it goes on from its newest complete checkpoint
/// and is followed again.
int follow_restarting(RunFollower& follower, Reached& at, const RestartWish& wish, const Session& session,
                      const Interrupts& interrupts);

/// What is left of the nodes, and the smaller run where some are lost and that is wanted: by the switch, or
/// by a person at the terminal. Throws Error(Unreachable) naming the lost ones where it is not.
struct WayOn {
    NodesLeft left;
    std::optional<Shrunk> shrunk;
};
WayOn find_way_on(const RunDirectory& run, std::chrono::seconds patience, bool may_shrink,
                  const Session& session, ProgressPrinter& printer);

}  // namespace ringmaster
