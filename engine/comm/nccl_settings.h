/// What NCCL, and LibTorch around it, are told on this node: computed from the node, never in place of what
/// the environment already says, and shown in the rank's log and its hello event.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/comm/groups.h"

namespace ringmaster {

struct NodeNetwork {
    bool one_node = true;                 ///< all ranks are on this machine
    std::string interface;                ///< that reaches the others; empty: unknown
    std::vector<std::string> infiniband;  ///< devices of /sys/class/infiniband
};

/// Of this machine. Throws Error(Unreachable) where no interface reaches the other nodes.
NodeNetwork network_of(const Rendezvous& who);

struct NcclSetting {
    std::string name, value;
    std::string why;  ///< "all ranks are on this machine"
};

/// Interface and transport. Algorithm and protocol of collectives are left to NCCL, which measures the links:
/// keys and values go by sends and receives, which have none.
std::vector<NcclSetting> nccl_settings(const NodeNetwork& network);

/// LibTorch's flight recorder of NCCL's transfers: written to `folder`/flight-recorder-rank-N where one
/// stalls beyond its timeout.
std::vector<NcclSetting> flight_recorder_settings(const std::filesystem::path& folder);

/// Sets what the environment does not hold, before NCCL is first used, and says what holds in one line:
/// "NCCL_SOCKET_IFNAME=lo (all ranks are on this machine), NCCL_ALGO=Tree (as given), …".
std::string use_nccl_settings(const std::vector<NcclSetting>& settings);

}  // namespace ringmaster
