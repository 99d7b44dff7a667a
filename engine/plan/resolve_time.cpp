#include <cstdio>
#include <thread>

#include "engine/plan/resolve.h"
#include "engine/plan/step_time.h"

namespace ringmaster {

namespace {

std::string per_second(double value, double unit, const char* name) {
    char text[48];
    std::snprintf(text, sizeof text, "%.3g %s/s", value / unit, name);
    return text;
}

std::string figures(const Speeds& speeds, Device device) {
    const std::string compute = device == Device::Cuda ? per_second(speeds.flops, 1e12, "TFLOP")
                                                       : per_second(speeds.flops, 1e9, "GFLOP");
    return compute + " a rank, " + per_second(speeds.inside_node, 1e9, "GB") + " between ranks of a node, " +
           per_second(speeds.across_nodes, 1e9, "GB") + " between nodes";
}

}  // namespace

void resolve_time(const PlanRequest& request, Plan& plan, Findings& findings) {
    if (!plan.model || plan.sequence.per_rank == 0) return;
    const Speeds speeds =
        assumed_speeds(plan.device, plan.config.precision, cores_of(request), plan.ranks / plan.nodes);
    plan.time = step_time(plan, speeds);
    findings.inform("TIME-ASSUMED", "",
                    "the time of a step is made from assumed figures: " + figures(speeds, plan.device));
    if (plan.device == Device::Cpu && plan.config.precision != Precision::Float32 && !cpu_has_bfloat16()) {
        findings.warn("TIME-BF16", findings.key_of({"bf16", "bfloat16"}),
                      "this machine's processor has no bfloat16 instructions: a step takes many times as "
                      "long as in float32",
                      "bf16: false");
    }
}

}  // namespace ringmaster
