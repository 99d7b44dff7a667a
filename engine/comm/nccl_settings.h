/// Computes settings for NCCL, and for LibTorch's use of NCCL, from this node's network. Variables that are
/// already set stay as they are. The rank's log and its hello event show the settings.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/comm/groups.h"
#include "engine/plan/nccl_settings.h"

namespace ringmaster {

/// Returns whether all ranks are on this machine, the interface that reaches the other nodes, and the
/// InfiniBand devices. Throws Error(Unreachable) if no interface reaches the other nodes.
NodeNetwork network_of(const Rendezvous& who);

/// Returns the settings of LibTorch's flight recorder for NCCL's transfers, which writes
/// `folder`/flight-recorder-rank-N if a transfer stalls beyond its timeout.
std::vector<NcclSetting> flight_recorder_settings(const std::filesystem::path& folder);

/// Sets the variables of `settings` that the environment does not set. Call it before NCCL is first used.
/// Returns all variables on one line: "NCCL_SOCKET_IFNAME=lo (all ranks are on this machine), NCCL_ALGO=Tree
/// (as given), …".
std::string use_nccl_settings(const std::vector<NcclSetting>& settings);

}  // namespace ringmaster
