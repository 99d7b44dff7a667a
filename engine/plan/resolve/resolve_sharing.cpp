#include "engine/config/policy.h"
#include "engine/percent.h"
#include "engine/plan/plan_request.h"
#include "engine/plan/resolve/resolve.h"

namespace ringmaster {

namespace {

/// Returns the message form of finding PROMPTS-SHARED that says why the prompt is computed again for each
/// answer; nullptr if prompts are shared.
const char* obstacle_to_sharing(const Plan& plan) {
    const Config& config = plan.config;
    if (plan.model && plan.model->has_recurrent_layers()) return "recurs";
    if (config.lora.on() && config.lora.dropout > 0) return "dropout";
    if (plan.device == Device::Cuda && config.quantization.format == WeightFormat::Int8) return "int8";
    return nullptr;
}

/// Returns whether each micro-batch holds only one answer.
bool is_alone(const Plan& plan) {
    return !plan.config.preference.has_pairs() && !plan.config.sample_packing && plan.batch.micro == 1;
}

/// Returns whether answers to one prompt fall into different micro-batches, because single rows are shuffled.
bool are_scattered(const Plan& plan) {
    const Config& config = plan.config;
    return config.policy && !config.sampling && !config.sample_packing && !config.curriculum_sampling;
}

}  // namespace

void resolve_sharing(const PlanRequest& request, Plan& plan, Findings& findings) {
    const Config& config = plan.config;
    if (!weighs_documents(config)) return;
    const std::string key = findings.key_of({"rl", "reward_model", "process_reward_model"});
    if (const char* obstacle = obstacle_to_sharing(plan))
        return findings.inform(Form("PROMPTS-SHARED", obstacle), key, {});
    plan.sharing = request.shared_prompts;
    plan.sharing.on = true;
    if (is_alone(plan)) return findings.inform(Form("PROMPTS-SHARED", "alone"), key, {});
    if (are_scattered(plan)) return findings.inform(Form("PROMPTS-SHARED", "scattered"), key, {});
    if (!plan.sharing.tokens || !plan.sharing.cells) return findings.inform(Form("PROMPTS-SHARED"), key, {});
    findings.inform(
        Form("PROMPTS-SHARED", "saved"), key,
        {{"tokens", percent(1 - *plan.sharing.tokens, 0)}, {"cells", percent(1 - *plan.sharing.cells, 0)}});
}

}  // namespace ringmaster
