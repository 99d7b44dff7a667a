/// Following a run on other machines that may start again by itself: this process does that for a run on
/// several nodes, whose agents cannot send a checkpoint to each other.
#pragma once

#include "launcher/anywhere/launch.h"
#include "launcher/anywhere/restart.h"
#include "launcher/cli/live.h"

namespace ringmaster {

/// follow_to_end; where the run fails and restarts are left, it goes on from its newest complete checkpoint
/// and is followed again.
int follow_restarting(RunFollower& follower, Reached& at, const RestartWish& wish, const Session& session,
                      const Interrupts& interrupts);

/// Says which nodes are lost and what changes without them; agreed to by the switch, or by a person at the
/// terminal.
AgreeToShrink agree_at_terminal(bool may_shrink, const Session& session, ProgressPrinter& printer);

}  // namespace ringmaster
