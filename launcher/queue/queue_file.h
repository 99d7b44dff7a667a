/// Keeps the queue of this user's runs in `queue.json`, next to the user's runs folder:
///
///     {"slots": 1, "partitions": {"gpu": 4}, "runs": [{"dir": "/…/runs/a", "resumes": 0, "set":
///     {"learning_rate": 0.0001}}]}
///
/// The file holds the order and the sweeps' keys, but no states. A run's state is read from the run's
/// run.json, so that the two files cannot disagree.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "launcher/backends/queue_place.h"
#include "launcher/base/places.h"
#include "launcher/run/run_directory.h"

namespace ringmaster {

struct QueuedRun {
    RunDirectory run;
    int resumes = 0;  ///< how often the queue has continued the run after an interruption
    std::map<std::string, std::string> set;  ///< keys that the sweep set for this run, with values as YAML
};

constexpr int kMostSlots = 1024;

struct Queue {
    int slots = 1;  ///< how many of the runs may train at the same time on this machine
    /// Partition of Slurm, as in QueuePlace → how many jobs of the queue may wait or run there; others: any
    /// number.
    std::map<std::string, int> partition_slots;
    std::vector<QueuedRun> runs;
};

std::filesystem::path queue_folder(const Places& places);

/// Returns the queue; an empty one if there is no file. Throws Error(Refused) if the file is damaged.
Queue read_queue(const std::filesystem::path& folder);

/// Reads the queue, applies `change` and writes it, while no other process can change it. Throws what
/// `change` throws.
void change_queue(const std::filesystem::path& folder, const std::function<void(Queue&)>& change);

}  // namespace ringmaster
