#include "engine/plan/resolve/make_plan.h"

#include "engine/plan/findings.h"
#include "engine/plan/resolve/checks.h"
#include "engine/plan/resolve/resolve.h"

namespace ringmaster {

Plan make_plan(const ConfigReading& reading, const PlanRequest& request) {
    Plan plan;
    plan.config = reading.config;
    plan.keys = reading.keys;
    plan.preflight = request.preflight;
    plan.diagnostics = reading.diagnostics;
    Findings findings(plan);

    resolve_topology(request, plan, findings);
    if (!reading.readable) {
        plan.verdict = Verdict::Invalid;
        put_worst_first(plan.diagnostics);
        return plan;
    }
    plan.zero_stage = plan.config.zero_stage_asked;
    resolve_model(request, plan, findings);
    const bool has_mesh = resolve_mesh(plan, findings);
    if (has_mesh) resolve_experts(plan, findings);
    if (has_mesh) resolve_sequence(plan, findings);
    resolve_batch(request, plan, findings);
    resolve_sharing(request, plan, findings);
    if (has_mesh) {
        check_rules(plan, findings);
        check_engine_limits(plan, findings);
        resolve_memory(request, plan, findings);
        if (request.needs_time) resolve_time(request, plan, findings);
    }
    if (!plan.ok()) plan.verdict = Verdict::Invalid;
    put_worst_first(plan.diagnostics);
    return plan;
}

}  // namespace ringmaster
