/// What a run can be sent to, and whether it can train there: this machine, a machine reached by SSH, a
/// cluster with Slurm. A check takes seconds; call it off the GUI thread.
#pragma once

#include <string>
#include <vector>

#include "launcher/nodes/fleet.h"
#include "launcher/places.h"
#include "launcher/slurm/partitions.h"
#include "launcher/ssh/prompt.h"

namespace ringmaster {

enum class TargetKind { Here, Ssh, Slurm };
const char* to_string(TargetKind kind);  ///< "here", "ssh", "slurm"

struct Target {
    TargetKind kind = TargetKind::Here;
    std::string host;  ///< [user@]host[:port]; of Slurm a login node, or empty: Slurm's commands are here

    bool operator==(const Target&) const = default;
};

/// Throws Error(Usage) where `host` is no name of a machine.
Target make_target(TargetKind kind, const std::string& host);

struct TargetReport {
    NodeReport node;
    std::vector<SlurmPartition> partitions;  ///< of Slurm
    double checked = 0;                      ///< Unix seconds
};

/// `remedy` as check_node takes it. Never throws for what a machine does; Cancelled.
TargetReport check_target(const Target& target, const Places& places, const SshPerson& person,
                          const Remedy& remedy = {});

}  // namespace ringmaster
