#include "engine/plan/nccl_settings.h"

#include <nlohmann/json.hpp>

#include "engine/layout/deterministic.h"

namespace ringmaster {

namespace {

constexpr const char* kInterface = "NCCL_SOCKET_IFNAME";
constexpr const char* kInfiniband = "NCCL_IB_DISABLE";

bool uses_nccl(const Plan& plan) {
    return plan.device == Device::Cuda && plan.ranks > 1;
}

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
    return text;
}

/// Returns the setting that excludes NVLink's switches if the order of sums matters, because the switches add
/// values as they arrive.
NcclSetting algorithm(bool in_order) {
    if (!in_order) return {"NCCL_ALGO", "", "left to NCCL, which measures the links"};
    return {"NCCL_ALGO", "^NVLS,NVLSTree",
            "NVLink's switches add in no fixed order; RINGMASTER_CUDA_DETERMINISTIC=1 asks for one"};
}

}  // namespace

std::vector<NcclSetting> nccl_settings(const NodeNetwork& network, bool in_order) {
    std::vector<NcclSetting> settings;
    if (!network.interface.empty()) {
        settings.push_back(
            {kInterface, "=" + network.interface,
             network.one_node ? "all ranks are on this machine" : "it reaches the other nodes"});
    }
    if (!network.one_node && network.infiniband.empty()) {
        settings.push_back({kInfiniband, "1", "this node has no InfiniBand"});
    } else if (!network.one_node) {
        settings.push_back({kInfiniband, "0", "InfiniBand: " + joined(network.infiniband)});
    }
    settings.push_back(algorithm(in_order));
    return settings;
}

std::vector<NcclSetting> shown_nccl_settings(const Plan& plan, const NodeNetwork& network) {
    if (!uses_nccl(plan)) return {};
    std::vector<NcclSetting> settings = nccl_settings(network, cuda_is_deterministic());
    if (network.interface.empty())
        settings.insert(settings.begin(), {kInterface, "", "the node's interface that reaches the others"});
    return settings;
}

std::vector<NcclSetting> planned_nccl_settings(const Plan& plan) {
    if (!uses_nccl(plan)) return {};
    if (plan.nodes == 1) return shown_nccl_settings(plan, {true, "lo", {}});
    return {{kInterface, "", "each node's interface that reaches the others"},
            {kInfiniband, "", "0 on a node with InfiniBand, else 1"},
            algorithm(cuda_is_deterministic())};
}

std::string to_text(const NcclSetting& setting) {
    if (setting.value.empty()) return setting.name + ": " + setting.why;
    return setting.name + "=" + setting.value + " (" + setting.why + ")";
}

nlohmann::json nccl_settings_to_json(const std::vector<NcclSetting>& settings) {
    nlohmann::json list = nlohmann::json::array();
    for (const NcclSetting& it : settings) {
        list.push_back({{"name", it.name},
                        {"value", it.value.empty() ? nlohmann::json(nullptr) : nlohmann::json(it.value)},
                        {"why", it.why}});
    }
    return list;
}

}  // namespace ringmaster
