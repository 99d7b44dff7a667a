/// Prepares runs and queues them: one run of a configuration, or one for each point of a sweep. The queue is
/// on this machine; the runs may train here, on other machines or in Slurm.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "launcher/backends/backend.h"
#include "launcher/queue/sweep.h"
#include "launcher/run/prepare.h"

namespace ringmaster {

struct QueueRequest {
    Request request;
    RunOptions options;  ///< the name of each run of a sweep gets a number
    Destination to;      ///< where the runs train; empty: here
    /// Trusts unknown host keys or rejects them, and asks nobody, because the runs start unattended.
    SshPerson person;
    std::vector<std::string> sweep;  ///< settings as in runs_of_sweep; empty: one run
    /// Maximum number of runs that train at the same time on this machine, or are in the Slurm partition;
    /// empty: unchanged.
    std::optional<int> slots;
};

/// Returns false if only a program that follows the run could restart it after a failure: no such program
/// follows a queued run.
bool can_restart_queued(const Destination& to);

/// Plans all runs, then prepares one after the other, sends it to its machines and queues it; calls `queued`
/// after each. Each run of a sweep gets its own folder in output_dir. Throws Error, PlanRefused or
/// Cancelled; runs that are queued by then stay in the queue.
void add_to_queue(const QueueRequest& wanted, const Places& places, const Progress& progress,
                  const std::function<void(const RunDirectory&)>& queued);

}  // namespace ringmaster
