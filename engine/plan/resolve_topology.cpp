#include <algorithm>
#include <thread>

#include "engine/plan/resolve.h"

namespace ringmaster {

namespace {

constexpr int64_t kMostRanks = 65'536;
constexpr int kCpuRanks = 2;

Device resolve_device(const PlanRequest& request) {
    return request.device.value_or(request.devices_seen > 0 ? Device::Cuda : Device::Cpu);
}

int64_t ranks_wanted(const PlanRequest& request, const Plan& plan) {
    if (request.ranks) return *request.ranks;
    if (plan.config.ranks) return *plan.config.ranks;
    if (plan.device == Device::Cuda && request.devices_seen > 0) return request.devices_seen;
    return kCpuRanks;
}

int resolve_ranks(const PlanRequest& request, const Plan& plan, Findings& findings) {
    const int64_t ranks = ranks_wanted(request, plan);
    const std::string key = request.ranks ? "" : findings.key_of({"num_processes"});
    if (ranks < 1) {
        findings.error("MESH-RANKS", key, grouped(ranks) + " ranks cannot train", "--ranks 1 or more");
    } else if (ranks > kMostRanks) {
        findings.error("MESH-RANKS", key, grouped(ranks) + " ranks are more than can be planned",
                       "at most " + grouped(kMostRanks));
    }
    return static_cast<int>(std::clamp<int64_t>(ranks, 1, kMostRanks));
}

int resolve_nodes(const PlanRequest& request, const Plan& plan, Findings& findings) {
    const int64_t nodes = request.nodes ? *request.nodes : plan.config.nodes.value_or(1);
    if (nodes >= 1 && plan.ranks % nodes == 0) return static_cast<int>(nodes);
    findings.error("MESH-NODES", request.nodes ? "" : findings.key_of({"num_machines"}),
                   counted(plan.ranks, "rank") + " cannot be spread evenly over " + counted(nodes, "node"),
                   "nodes that work: " + joined(divisors(plan.ranks)));
    return 1;
}

}  // namespace

void resolve_topology(const PlanRequest& request, Plan& plan, Findings& findings) {
    plan.device = resolve_device(request);
    plan.ranks = resolve_ranks(request, plan, findings);
    plan.nodes = resolve_nodes(request, plan, findings);
    if (plan.device == Device::Cuda && plan.nodes == 1 && request.devices_seen < plan.ranks) {
        findings.inform("MESH-DEVICES", "",
                        "this machine has " + counted(request.devices_seen, "GPU") + ", the plan is for " +
                            counted(plan.ranks, "rank") + " with one each");
    }
}

int cores_of(const PlanRequest& request) {
    if (request.machine_cores > 0) return request.machine_cores;
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace ringmaster
