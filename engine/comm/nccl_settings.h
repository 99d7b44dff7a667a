/// What NCCL, and LibTorch around it, are told on this node: computed from the node, never in place of what
/// the environment already says, and shown in the rank's log and its hello event.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/comm/groups.h"
#include "engine/plan/nccl_settings.h"

namespace ringmaster {

/// Of this machine. Throws Error(Unreachable) where no interface reaches the other nodes.
NodeNetwork network_of(const Rendezvous& who);

/// LibTorch's flight recorder of NCCL's transfers: written to `folder`/flight-recorder-rank-N where one
/// stalls beyond its timeout.
std::vector<NcclSetting> flight_recorder_settings(const std::filesystem::path& folder);

/// Sets what the environment does not hold and has a value, before NCCL is first used, and says what holds in
/// one line: "NCCL_SOCKET_IFNAME=lo (all ranks are on this machine), NCCL_ALGO=Tree (as given), …".
std::string use_nccl_settings(const std::vector<NcclSetting>& settings);

}  // namespace ringmaster
