#include <algorithm>
#include <filesystem>

#include "engine/config/lora_targets.h"
#include "engine/config/paths.h"
#include "engine/error.h"
#include "engine/families/hub_cache.h"
#include "engine/plan/plan_request.h"
#include "engine/plan/resolve/resolve.h"

namespace ringmaster {

namespace {

namespace fs = std::filesystem;

bool has_weights(const std::string& dir) {
    std::error_code ignored;
    for (fs::directory_iterator entry(dir, ignored), end; !ignored && entry != end;
         entry.increment(ignored)) {
        if (entry->path().extension() == ".safetensors") return true;
    }
    return false;
}

void read_folder(Plan& plan, Findings& findings) {
    const Config& config = plan.config;
    try {
        plan.model = read_model_config(config.model_dir);
    } catch (const Error& error) {
        findings.error(Form("MODEL-CONFIG", "folder"), "base_model",
                       {{"file", error.where}, {"problem", error.what()}, {"advice", error.hint}});
    }
    if (!config.reinit_weights && !has_weights(config.model_dir)) {
        findings.error(Form("MODEL-WEIGHTS"), "base_model", {{"folder", config.model_dir}});
    }
}

void find_by_id(const PlanRequest& request, Plan& plan, Findings& findings) {
    const std::string& id = plan.config.base_model;
    const std::string revision = plan.config.tokenization.value("revision_of_model", "");
    plan.model = cached_model_config(id, revision, request.hf_cache_dir);
    if (!plan.model) plan.model = find_model_config(id, revision.empty() ? request.hf_cache_dir : "");
    if (plan.model) return;
    findings.warn(Form("MODEL-UNKNOWN"), "base_model", {{"model", id}});
}

/// Keeps weights quantised if they are stored in quantised form, whatever the file asks for, as axolotl does.
void take_stored_quantization(Plan& plan, Findings& findings) {
    const Quantization& stored = plan.model->quantization;
    Quantization& asked = plan.config.quantization;
    if (!stored.on()) return;
    const std::string nested = stored.is_4bit() && stored.nested ? "-nested" : "";
    if (!plan.config.lora.on()) {
        findings.error(
            Form("MODEL-QUANTIZED", ("frozen" + nested).c_str()), "base_model",
            {{"format", to_string(stored.format)},
             {"adapter", stored.is_4bit() ? "adapter: qlora with load_in_4bit: true" : "adapter: lora"}});
        return;
    }
    if (asked.on() && (asked.format != stored.format || (stored.is_4bit() && asked.nested != stored.nested)))
        findings.inform(Form("MODEL-QUANTIZED", ("counts" + nested).c_str()), "base_model",
                        {{"format", to_string(stored.format)}});
    const bool experts = asked.experts;
    asked = stored;
    asked.experts = experts;
}

/// Replaces config.json's settings of the router's loss by those of the user's file. They have no effect on a
/// model class without such a loss.
void override_router_loss(const Config& config, ModelConfig& model) {
    if (model.num_experts == 0 || !model.router.has_loss) return;
    model.adds_router_loss = config.output_router_logits.value_or(model.adds_router_loss);
    model.router_loss_coefficient = config.router_aux_loss_coef.value_or(model.router_loss_coefficient);
}

/// Replaces the head by a head that computes a reward model's scores. As in PEFT, a run with an adapter
/// trains this head in full.
void take_scores(Plan& plan, Findings& findings) {
    Config& config = plan.config;
    const bool of_tokens = config.token_labels > 0;
    if (!config.preference.scores() && !of_tokens) return;
    if (!has_score_class(*plan.model, of_tokens))
        findings.error(Form("PREFERENCE-LIMIT", "scores"),
                       of_tokens ? "process_reward_model" : "reward_model",
                       {{"type", plan.model->model_type}});
    plan.model = with_scores(*plan.model, of_tokens ? config.token_labels : 1, of_tokens);
    LoraTargets targets = targets_of(config.lora);
    targets.saved_head = "score";
    if (config.lora.on()) config.lora.targets = written_targets(targets);
}

/// Divides the logits by the temperature with which the rollouts were sampled.
void apply_temperature(const Config& config, ModelConfig& model) {
    if (config.policy) model.logit_multiplier /= config.policy->temperature;
}

/// Notes that 8-bit weights on a GPU make the products quantise their inputs as well, which changes the
/// numbers, as in bitsandbytes. On a CPU, bitsandbytes and this engine multiply by dequantised weights.
void tell_of_quantized_inputs(const Plan& plan, Findings& findings) {
    const Quantization& quantization = plan.config.quantization;
    if (plan.device != Device::Cuda || quantization.format != WeightFormat::Int8) return;
    findings.inform(Form("MODEL-QUANTIZED", "inputs"), quantization.stored ? "base_model" : "load_in_8bit",
                    {});
}

/// Notes that quantisation leaves experts as they are, which decides how much memory the weights take.
void tell_of_whole_experts(const Plan& plan, Findings& findings) {
    const ModelConfig& model = *plan.model;
    const Quantization& quantization = plan.config.quantization;
    if (!quantization.on() || quantization.experts || model.num_experts == 0) return;
    const int64_t parameters = (model.gate.columns() + 1) * model.sparse_layers() * model.num_experts *
                               model.expert_intermediate_size * model.expert_outer_size();
    findings.inform(Form("MODEL-QUANTIZED", "experts"), findings.key_of({"load_in_4bit", "load_in_8bit"}),
                    {{"parameters", parameters}});
}

void resolve_shape(const PlanRequest& request, Plan& plan, Findings& findings) {
    const Config& config = plan.config;
    if (request.known_model) {
        plan.model = request.known_model;
        return;
    }
    if (!config.model_dir.empty()) {
        read_folder(plan, findings);
    } else if (looks_like_path(config.base_model)) {
        findings.warn(Form("MODEL-MISSING"), "base_model",
                      {{"folder", absolute_path(config.base_dir, config.base_model)},
                       {"base_folder", config.base_dir}});
    } else {
        find_by_id(request, plan, findings);
    }
}

}  // namespace

void resolve_model(const PlanRequest& request, Plan& plan, Findings& findings) {
    if (plan.config.base_model.empty()) return;
    resolve_shape(request, plan, findings);
    if (plan.model) take_stored_quantization(plan, findings);
    if (plan.model) override_router_loss(plan.config, *plan.model);
    if (plan.model) apply_temperature(plan.config, *plan.model);
    if (plan.model) take_scores(plan, findings);
    tell_of_quantized_inputs(plan, findings);
    if (!plan.model || !plan.config.lora.on()) return;
    tell_of_whole_experts(plan, findings);
    resolve_adapter(plan, findings);
}

}  // namespace ringmaster
