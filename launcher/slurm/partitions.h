/// What a cluster offers: its partitions, as sinfo tells them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launcher/slurm/site.h"

namespace ringmaster {

struct SlurmPartition {
    std::string name;
    bool is_default = false, is_up = false;
    std::string time_limit;    ///< "2-00:00:00", "infinite"
    int nodes = 0, idle = 0;   ///< idle: wholly free now
    std::string gres;          ///< "gpu:h100:4"; several kinds of node: "gpu:a100:8 or gpu:h100:4"
    int cpus = 0;              ///< of a node, the least
    int64_t memory_bytes = 0;  ///< of a node, the least
};

/// One sinfo. Throws Error(Unreachable) where Slurm does not answer.
std::vector<SlurmPartition> partitions_of(SlurmSite& site);

/// Its output, a line for each partition and kind of node, in Slurm's order.
std::vector<SlurmPartition> parse_sinfo(const std::string& out);

}  // namespace ringmaster
