/// Decides which run of the queue may start. Each run waits for the devices of its place: this machine, the
/// hosts that it names, or a partition of Slurm. A run that waits for one place delays no run for another.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "launcher/queue/queue_file.h"

namespace ringmaster {

struct Turn {
    std::optional<RunDirectory> next;  ///< the first run that may start; empty: none
    QueueState state = QueueState::Waiting;
    std::vector<RunDirectory> active_elsewhere;  ///< runs that are active on other machines or in Slurm
    bool is_done = false;                        ///< true: no run waits or is active
};

/// Returns the turn, by these rules. Runs for the same place start in their order. This machine trains
/// `slots` runs at a time, and a run on GPUs has it to itself, because every run uses the first GPUs. Two
/// runs that share a host never train at the same time. A partition of Slurm holds as many jobs of the queue
/// as its slots say, by default any number. Skips runs for which `is_postponed` returns true; they keep
/// their place.
Turn turn_of(const Queue& queue, const std::function<bool(const RunDirectory&)>& is_postponed = {});

}  // namespace ringmaster
