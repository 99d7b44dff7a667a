/// Lists the runs of the queue with their states, and changes their order.
#pragma once

#include <utility>
#include <vector>

#include "launcher/queue/queue_file.h"

namespace ringmaster {

/// Returns the runs of the queue that still exist, in order.
std::vector<std::pair<QueuedRun, RunSummary>> queued_runs(const Queue& queue);

/// Returns the keys whose values differ between some of the runs, in alphabetical order.
std::vector<std::string> swept_keys(const Queue& queue);

/// Removes a run from the queue; its directory stays. Throws Error(Usage) if it is not in the queue,
/// Error(Refused) if it is active.
void remove_from_queue(const std::filesystem::path& folder, const RunDirectory& run);

/// Moves a run to a place, counted from 0. Throws Error(Usage) if it is not in the queue.
void move_in_queue(const std::filesystem::path& folder, const RunDirectory& run, int64_t place);

}  // namespace ringmaster
