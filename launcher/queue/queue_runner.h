/// Starts the runs of the queue, in order. A separate process, `ringmaster queue run`, does the work; it
/// needs no terminal and no window and ends when no run is left. If it is killed, or the machine restarts,
/// the next Ringmaster command of this user or the user service of queue_service.h starts it again.
/// Interrupted runs then continue from their newest complete checkpoint.
///
/// The process also starts runs on other machines and in Slurm, and follows them until they end. If the
/// process is killed in the middle of a start, the next one asks the machine or Slurm whether the run has
/// begun, so that no run starts twice.
#pragma once

#include "launcher/base/places.h"

namespace ringmaster {

/// Starts runs until no run waits or is active. Returns at once if another process already does so. Throws
/// Error(Refused) if the queue's file is damaged.
void run_queue(const Places& places);

/// Returns true if the queue's process is alive.
bool is_queue_alive(const Places& places);

/// Starts the queue's process if there is something to do and no such process is alive. Never throws, because
/// commands with other tasks call it.
void wake_queue(const Places& places);

}  // namespace ringmaster
