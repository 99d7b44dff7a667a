/// Chooses NCCL's settings on each node from the node's network. The engine applies these settings; plans and
/// launches show them beforehand.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/plan/plan.h"

namespace ringmaster {

struct NodeNetwork {
    bool one_node = true;                 ///< all ranks are on this machine
    std::string interface;                ///< interface that reaches the other nodes; empty: unknown
    std::vector<std::string> infiniband;  ///< devices of /sys/class/infiniband
};

struct NcclSetting {
    std::string name;
    std::string value;  ///< empty: chosen at the start by the party that `why` names
    std::string why;    ///< "all ranks are on this machine"
};

/// Returns the settings for the network interface, the transport and the algorithms of collectives.
/// `in_order` excludes algorithms that may add in another order in each run. NCCL chooses everything else
/// from its measurement of the links. Keys and values travel as sends and receives, which have no algorithm.
std::vector<NcclSetting> nccl_settings(const NodeNetwork& network, bool in_order);

/// Returns the same settings for display; none if the plan does not use NCCL.
std::vector<NcclSetting> shown_nccl_settings(const Plan& plan, const NodeNetwork& network);

/// Returns the settings before any node is known; values that a node determines later are empty.
std::vector<NcclSetting> planned_nccl_settings(const Plan& plan);

/// Returns text such as "NCCL_SOCKET_IFNAME=eth0 (it reaches the other nodes)".
std::string to_text(const NcclSetting& setting);
/// Returns a list of {"name", "value" or null, "why"}.
nlohmann::json nccl_settings_to_json(const std::vector<NcclSetting>& settings);

}  // namespace ringmaster
