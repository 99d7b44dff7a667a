/// Lists a cluster's partitions, as sinfo reports them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ringmaster {

class SlurmSite;

struct SlurmPartition {
    std::string name;
    bool is_default = false, is_up = false;
    std::string time_limit;    ///< "2-00:00:00", "infinite"
    int nodes = 0, idle = 0;   ///< idle: nodes that are completely free now
    std::string gres;          ///< "gpu:h100:4"; for several kinds of node "gpu:a100:8 or gpu:h100:4"
    int cpus = 0;              ///< CPUs of the smallest node
    int64_t memory_bytes = 0;  ///< memory of the smallest node
};

/// Runs sinfo once. Throws Error(Unreachable) if Slurm does not answer.
std::vector<SlurmPartition> partitions_of(SlurmSite& site);

/// Parses sinfo's output, which has a line per partition and kind of node, and keeps Slurm's order.
std::vector<SlurmPartition> parse_sinfo(const std::string& out);

}  // namespace ringmaster
