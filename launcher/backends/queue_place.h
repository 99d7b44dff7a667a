/// Returns, for a run of any backend, the place whose devices a queued run waits for, and the run's state in
/// the queue.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launcher/backends/backend.h"
#include "launcher/run/run_directory.h"

namespace ringmaster {

/// The machines, or the Slurm partition, whose devices a run waits for.
struct QueuePlace {
    std::vector<std::string> hosts;  ///< machines reached by SSH, without users; none for Slurm
    /// "PARTITION" or "LOGIN:PARTITION" in Slurm; without the partition's name, Slurm's default partition.
    std::optional<std::string> partition;
    bool by_ssh = false;  ///< true: a session to another machine starts and follows the run

    /// Returns whether the run's state must be requested from another machine or from Slurm, which may not
    /// answer.
    bool is_asked() const { return by_ssh || partition; }
};

enum class QueueState {
    Waiting,  ///< prepared, and never started
    Active,   ///< a process is training it, or Slurm has its job
    /// The run's processes are gone although nobody stopped the run, for example after the machine restarted.
    CutOff,
    Over,  ///< completed, failed, stopped, or deleted
};
QueueState queue_state(const RunDirectory& run);  ///< a damaged run counts as over
QueuePlace queue_place(const Destination& to);
QueuePlace queue_place(const RunDirectory& run);  ///< a damaged run counts as a run on this machine

}  // namespace ringmaster
