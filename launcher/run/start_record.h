/// Decides if a run may be started again, and records in run.json what no agent can record: that a run did
/// not start, or that it is being started.
#pragma once

#include <functional>

#include "launcher/base/progress.h"
#include "launcher/run/run_directory.h"

namespace ringmaster {

/// Returns true if a process on this machine or a scheduler owns the run, so that it can be neither resumed
/// nor deleted.
bool is_active(const RunState& state);

/// Returns the state of a run. If the run is over but one of its processes still lives on this machine, waits
/// up to 10 s for that process, because an agent records the end of a run shortly before it exits. Throws
/// Cancelled.
RunState state_after_processes_end(const RunDirectory& run, const Progress& progress);

/// Throws Error(Refused) with a message that only a run that has ended can be resumed, and that this run is
/// in `phase`.
[[noreturn]] void refuse_to_resume(const RunDirectory& run, RunPhase phase);

/// Calls `work`. If it throws, records in run.json why the run did not start, and throws again.
void record_failed_start(const RunDirectory& run, const std::function<void()>& work);

/// Marks the run as running, so that its old state is not mistaken for the end of this attempt.
void record_running(const RunDirectory& run, int attempt, int ranks);

}  // namespace ringmaster
