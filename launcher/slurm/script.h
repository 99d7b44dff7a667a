/// The script that sbatch takes: it starts the ranks with srun, and puts the job back into the queue where
/// they saved because its time was nearly over.
#pragma once

#include <string>

#include "engine/plan/plan.h"
#include "launcher/slurm/options.h"

namespace ringmaster {

struct SlurmSubmission {
    std::string run_name;
    std::string run_dir;  ///< where the job runs: absolute
    std::string engine;   ///< there
    int ranks = 1;
    int nodes = 1;
    Device device = Device::Cpu;
    int attempt = 1;              ///< of its first start; every start again counts one more
    std::string resume = "none";  ///< of its first start; after that from the newest checkpoint that it saved
    SlurmOptions options;
};

/// Names and values are quoted, so that neither sbatch nor the shell takes them for more. Throws Error(Usage)
/// where ranks and nodes do not go together, or a path cannot be told to Slurm.
std::string submit_script(const SlurmSubmission& job);

/// A value of an `#SBATCH` line.
std::string sbatch_quoted(const std::string& text);

}  // namespace ringmaster
