/// Writes the script for sbatch. It starts the ranks with srun, and requeues the job if they saved because
/// its time was nearly over or because it was preempted.
#pragma once

#include <string>

#include "engine/plan/plan.h"
#include "launcher/slurm/options.h"

namespace ringmaster {

/// Lines with which the script marks its log: when the job starts, and when its ranks have saved because the
/// job is preempted.
inline constexpr const char* kStartMark = "::ringmaster-start";
inline constexpr const char* kPreemptedMark = "::ringmaster-preempted";

struct SlurmSubmission {
    std::string run_name;
    std::string run_dir;  ///< absolute path where the job runs
    std::string engine;   ///< path of the engine on the nodes
    int ranks = 1;
    int nodes = 1;
    Device device = Device::Cpu;
    int attempt = 1;  ///< number of the job's first attempt; each restart adds one
    /// Resume option of the first start; restarts use this job's newest checkpoint.
    std::string resume = "none";
    SlurmOptions options;
};

/// Returns the script. Quotes names and values, so that neither sbatch nor the shell interprets them. Throws
/// Error(Usage) if the ranks do not fit the nodes, or if a path cannot be passed to Slurm.
std::string submit_script(const SlurmSubmission& job);

/// Returns the part of the job's log since its last start; all of it if no start is marked.
std::string since_last_start(const std::string& log);

/// Quotes a value for an `#SBATCH` line.
std::string sbatch_quoted(const std::string& text);

}  // namespace ringmaster
