#include <cstdio>

#include "engine/plan/measured.h"
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
    return device == Device::Cuda ? per_second(speeds.flops, 1e12, "TFLOP")
                                  : per_second(speeds.flops, 1e9, "GFLOP");
}

std::string links(const Speeds& speeds) {
    return per_second(speeds.inside_node, 1e9, "GB") + " between ranks of a node, " +
           per_second(speeds.across_nodes, 1e9, "GB") + " between nodes";
}

std::string text_of(const Recalibration& known) {
    return "a run of " + grouped(known.from->length) + " tokens on " + counted(known.from->ranks, "rank") +
           " that was measured here on " + date_text(known.from->measured_at);
}

void say_basis(const SpeedsOfPlan& found, const Plan& plan, Findings& findings) {
    const std::string speed = figures(found.speeds, plan.device) + " a rank";
    if (found.recalibration) {
        const std::string from = text_of(*found.recalibration);
        findings.inform(
            "TIME-MEASURED", "",
            found.recalibration->is_same_run
                ? "the time of a step is that of " + from
                : "the time of a step is made from " + from + ": " + speed +
                      (found.measured ? "" : "; the links' speed is assumed: " + links(found.speeds)));
    } else if (found.calibration != nullptr) {
        const Calibration& c = *found.calibration;
        findings.inform(
            "TIME-MEASURED", "",
            "the time of a step is made from figures measured on " + c.host + " (" + c.device + ") on " +
                date_text(c.measured_at) + ": " + speed + ", " +
                (found.measured ? per_second(found.speeds.inside_node, 1e9, "GB") + " between ranks"
                                : "the links' speed is assumed: " + links(found.speeds)));
    } else {
        findings.inform(
            "TIME-ASSUMED", "",
            "the time of a step is made from assumed figures: " + speed + ", " + links(found.speeds),
            "ringmaster calibrate measures this machine");
    }
}

}  // namespace

void resolve_time(const PlanRequest& request, Plan& plan, Findings& findings) {
    if (!plan.model || plan.sequence.per_rank == 0) return;
    const SpeedsOfPlan found = speeds_of(request, plan);
    plan.time = step_time(plan, found.speeds);
    plan.time->measured = found.measured;
    if (found.recalibration && found.recalibration->is_same_run) {
        const Measurement& same = *found.recalibration->from;
        plan.time = {same.step_s, same.compute_s, same.comm_s, same.exposed_comm_s, true};
    }
    say_basis(found, plan, findings);
    if (plan.device == Device::Cpu && plan.config.precision != Precision::Float32 && !cpu_has_bfloat16()) {
        findings.warn(Form("TIME-BF16"), findings.key_of({"bf16", "bfloat16"}), {});
    }
}

}  // namespace ringmaster
