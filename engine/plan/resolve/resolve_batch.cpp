#include <cmath>

#include "engine/config/sequences_per_row.h"
#include "engine/layout/local_rows.h"
#include "engine/plan/plan_request.h"
#include "engine/plan/resolve/resolve.h"

namespace ringmaster {

namespace {

/// Returns false, with an error reported, if a step has implausibly many rows or tokens.
bool count_rows_of_step(Plan& plan, Findings& findings) {
    const Config& config = plan.config;
    Batch& batch = plan.batch;
    batch.micro = config.micro_batch_size;
    batch.accumulation = config.gradient_accumulation_steps;
    const int64_t groups = std::max(1, plan.ranks / plan.context_parallel.size);
    const auto without = product({batch.micro, batch.accumulation, plan.ranks});
    const auto tokens = product({batch.micro, sequences_per_row(config), batch.accumulation, groups,
                                 std::max<int64_t>(1, plan.sequence.length)});
    if (!without || !tokens) {
        findings.error(Form("BATCH-SIZE"), "micro_batch_size", {});
        batch.micro = batch.accumulation = 1;
        return false;
    }
    batch.global = batch.micro * batch.accumulation * groups;
    batch.global_without_cp = *without;
    if (plan.sequence.length > 0) batch.tokens_per_step = *tokens;
    return true;
}

void say_division(const Plan& plan, Findings& findings) {
    const Batch& batch = plan.batch;
    if (batch.global == batch.global_without_cp || plan.ranks % plan.context_parallel.size != 0) return;
    const int64_t keeping = batch.accumulation * (batch.global_without_cp / batch.global);
    const std::string key = findings.key_of({"context_parallel_size", "sequence_parallel_degree"});
    findings.inform(Form("BATCH-DIVIDED"), key,
                    {{"without", batch.global_without_cp},
                     {"global", batch.global},
                     {"size", plan.context_parallel.size},
                     {"accumulation", keeping}});
}

/// Returns how many rows a run takes from a folder into which another program writes them.
std::optional<int64_t> rows_to_come(const Plan& plan) {
    if (!plan.config.max_steps) return std::nullopt;
    return product({*plan.config.max_steps, plan.batch.global});
}

std::optional<int64_t> rows_of(const PlanRequest& request, const Plan& plan, Findings& findings) {
    if (request.rows) return request.rows;
    if (plan.config.policy && plan.config.policy->folder) return rows_to_come(plan);
    const auto counted_rows = count_local_rows(plan.config);
    if (!counted_rows) return std::nullopt;
    const int64_t rows = training_rows(plan.config, counted_rows->rows);
    findings.inform(Form("DATA-ROWS-ESTIMATED", counted_rows->exact ? "exact" : "about"), "datasets",
                    {{"rows", counted_rows->rows}, {"training", rows}});
    return rows;
}

/// Returns how many prepared rows a step takes. If the run samples, a row is a prompt with several
/// completions.
int64_t rows_per_step(const Plan& plan) {
    if (!plan.config.sampling) return plan.batch.global;
    return std::max<int64_t>(1, plan.batch.global / plan.config.sampling->generations);
}

std::optional<int64_t> steps_in_all(const Config& config, const std::optional<int64_t>& steps_per_epoch) {
    if (config.max_steps) return config.max_steps;
    if (!steps_per_epoch) return std::nullopt;
    const double steps = std::ceil(config.num_epochs * double(*steps_per_epoch));
    return steps < 9e18 ? std::optional(static_cast<int64_t>(steps)) : std::nullopt;
}

}  // namespace

void resolve_batch(const PlanRequest& request, Plan& plan, Findings& findings) {
    if (!count_rows_of_step(plan, findings)) return;
    say_division(plan, findings);
    Batch& batch = plan.batch;
    if (!plan.config.accelerate_only) batch.rows = rows_of(request, plan, findings);
    if (batch.rows && *batch.rows <= 0) {
        findings.error(Form("DATA-EMPTY", plan.config.val_set_size > 0 ? "evaluation" : ""), "datasets", {});
        return;
    }
    const int64_t a_step = rows_per_step(plan);
    if (batch.rows) batch.steps_per_epoch = (*batch.rows + a_step - 1) / a_step;
    batch.total_steps = steps_in_all(plan.config, batch.steps_per_epoch);
    if (double& log = plan.config.logging_steps; batch.total_steps && log > 0 && log < 1)
        log = std::ceil(log * double(*batch.total_steps));
}

}  // namespace ringmaster
