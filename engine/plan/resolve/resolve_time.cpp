#include <cstdio>

#include "engine/config/precision.h"
#include "engine/plan/measured.h"
#include "engine/plan/plan_request.h"
#include "engine/plan/resolve/resolve.h"
#include "engine/plan/time/step_time.h"

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

/// Returns the figures behind the time, and the run or the calibration that measured them.
FindingValues basis_of(const SpeedsOfPlan& found, Device device) {
    FindingValues basis{{"flops", figures(found.speeds, device)},
                        {"inside", per_second(found.speeds.inside_node, 1e9, "GB")},
                        {"across", per_second(found.speeds.across_nodes, 1e9, "GB")}};
    if (found.recalibration) {
        const Measurement& from = *found.recalibration->from;
        basis.insert({{"length", from.length}, {"ranks", from.ranks}, {"date", date_text(from.measured_at)}});
    } else if (found.calibration != nullptr) {
        const Calibration& c = *found.calibration;
        basis.insert({{"host", c.host}, {"device", c.device}, {"date", date_text(c.measured_at)}});
    }
    return basis;
}

void say_basis(const SpeedsOfPlan& found, const Plan& plan, Findings& findings) {
    FindingValues basis = basis_of(found, plan.device);
    const std::string links = found.measured ? "" : "-assumed-links";
    if (found.recalibration) {
        const std::string form = found.recalibration->is_same_run ? "same" : "run" + links;
        findings.inform(Form("TIME-MEASURED", form.c_str()), "", std::move(basis));
    } else if (found.calibration != nullptr) {
        findings.inform(Form("TIME-MEASURED", ("calibrated" + links).c_str()), "", std::move(basis));
    } else {
        findings.inform(Form("TIME-ASSUMED"), "", std::move(basis));
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
    if (plan.device != Device::Cpu || plan.config.precision == Precision::Float32) return;
    if (plan.config.precision == kFp16Mixed) {
        findings.warn(Form("TIME-BF16", "fp16"), "fp16", {});
    } else if (!cpu_has_bfloat16()) {
        findings.warn(Form("TIME-BF16"), findings.key_of({"bf16", "bfloat16"}), {});
    }
}

}  // namespace ringmaster
