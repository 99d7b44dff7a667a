/// Identifies a Slurm job.
#pragma once

#include <string>

namespace ringmaster {

struct JobId {
    std::string number;
    std::string cluster;  ///< empty if Slurm manages only one cluster
};

}  // namespace ringmaster
