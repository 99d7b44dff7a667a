#include <algorithm>

#include "engine/plan/plan_request.h"
#include "engine/plan/resolve/resolve.h"

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
        findings.error(Form("MESH-RANKS", "none"), key, {{"ranks", ranks}});
    } else if (ranks > kMostRanks) {
        findings.error(Form("MESH-RANKS", "many"), key, {{"ranks", ranks}, {"most", kMostRanks}});
    }
    return static_cast<int>(std::clamp<int64_t>(ranks, 1, kMostRanks));
}

int resolve_nodes(const PlanRequest& request, const Plan& plan, Findings& findings) {
    const int64_t nodes = request.nodes ? *request.nodes : plan.config.nodes.value_or(1);
    if (nodes >= 1 && plan.ranks % nodes == 0) return static_cast<int>(nodes);
    findings.error(Form("MESH-NODES"), request.nodes ? "" : findings.key_of({"num_machines"}),
                   {{"ranks", plan.ranks}, {"nodes", nodes}, {"sizes", as_list(divisors(plan.ranks))}});
    return 1;
}

}  // namespace

void resolve_topology(const PlanRequest& request, Plan& plan, Findings& findings) {
    plan.device = resolve_device(request);
    plan.ranks = resolve_ranks(request, plan, findings);
    plan.nodes = resolve_nodes(request, plan, findings);
    if (plan.device == Device::Cuda && plan.nodes == 1 && request.devices_seen < plan.ranks) {
        findings.inform(Form("MESH-DEVICES"), "", {{"devices", request.devices_seen}, {"ranks", plan.ranks}});
    }
}

}  // namespace ringmaster
