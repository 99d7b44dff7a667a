/// What NCCL is told on each node, from what the node is: for the engine that tells it, and for a plan and a
/// launch that show it before.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/plan/plan.h"

namespace ringmaster {

struct NodeNetwork {
    bool one_node = true;                 ///< all ranks are on this machine
    std::string interface;                ///< that reaches the others; empty: unknown
    std::vector<std::string> infiniband;  ///< devices of /sys/class/infiniband
};

struct NcclSetting {
    std::string name;
    std::string value;  ///< empty: whoever `why` names finds it at the start
    std::string why;    ///< "all ranks are on this machine"
};

/// Interface, transport, and the algorithms that collectives may not use while sums are promised `in_order`,
/// the same in every run. The rest is left to NCCL, which measures the links: keys and values go by sends and
/// receives, which have no algorithm.
std::vector<NcclSetting> nccl_settings(const NodeNetwork& network, bool in_order);

/// The same, to be shown; none where there is no NCCL.
std::vector<NcclSetting> shown_nccl_settings(const Plan& plan, const NodeNetwork& network);

/// Before any node has been seen: what each of several finds itself has no value.
std::vector<NcclSetting> planned_nccl_settings(const Plan& plan);

/// "NCCL_SOCKET_IFNAME=eth0 (it reaches the other nodes)"
std::string to_text(const NcclSetting& setting);
/// [{"name", "value" or null, "why"}]
nlohmann::json nccl_settings_to_json(const std::vector<NcclSetting>& settings);

}  // namespace ringmaster
