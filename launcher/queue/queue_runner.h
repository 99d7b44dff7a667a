/// Starts the runs of the queue, in order. The work is done by a process of its own, `ringmaster queue run`,
/// which needs no terminal and no window and ends when no run is left. If it is killed, or the machine
/// restarts, the next Ringmaster command of this user starts it again; runs that were cut off meanwhile
/// continue from their newest whole checkpoint.
#pragma once

#include "launcher/places.h"

namespace ringmaster {

/// Starts runs until none waits or runs. Returns at once if another process does so already. Throws
/// Error(Refused) if the queue's file is damaged.
void run_queue(const Places& places);

/// Starts the process that starts runs, if there is something to do and none is alive. Never throws: it is
/// called by commands that are about something else.
void wake_queue(const Places& places);

}  // namespace ringmaster
