/// Checks whether a run can train on a target: this machine, a machine reached by SSH, or a Slurm cluster. A
/// check takes seconds; call it off the GUI thread.
#pragma once

#include <string>
#include <vector>

#include "launcher/base/places.h"
#include "launcher/nodes/fleet.h"
#include "launcher/slurm/partitions.h"
#include "launcher/ssh/prompt.h"

namespace ringmaster {

enum class TargetKind { Here, Ssh, Slurm };
const char* to_string(TargetKind kind);  ///< "here", "ssh", "slurm"

struct Target {
    TargetKind kind = TargetKind::Here;
    /// [user@]host[:port]; for Slurm a login node, or empty if Slurm is used on this machine
    std::string host;

    bool operator==(const Target&) const = default;
};

/// Throws Error(Usage) if `host` cannot be a machine's name.
Target make_target(TargetKind kind, const std::string& host);

struct TargetReport {
    NodeReport node;
    std::vector<SlurmPartition> partitions;  ///< partitions, for Slurm only
    double checked = 0;                      ///< Unix seconds
};

/// Checks the target; passes `remedy` to check_node. Throws only Cancelled: failures go into the report.
TargetReport check_target(const Target& target, const Places& places, const SshPerson& person,
                          const Remedy& remedy = {});

}  // namespace ringmaster
