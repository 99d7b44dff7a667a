#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "engine/config/paths.h"
#include "engine/error.h"
#include "engine/plan/resolve.h"

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
        findings.error("MODEL-CONFIG", "base_model", error.where + " " + error.what(), error.hint);
    }
    if (!config.reinit_weights && !has_weights(config.model_dir)) {
        findings.error("MODEL-WEIGHTS", "base_model", "no *.safetensors in " + config.model_dir,
                       "reinit_weights: true starts from random weights");
    }
}

void find_by_id(const PlanRequest& request, Plan& plan, Findings& findings) {
    const std::string& id = plan.config.base_model;
    plan.model = find_model_config(id, request.hf_cache_dir);
    if (plan.model) return;
    findings.warn("MODEL-UNKNOWN", "base_model",
                  "the shape of " + id + " is not known here: all but memory and time is planned",
                  "its config.json in the Hugging Face cache, or a local folder as base_model, tells it");
}

void say_adapter(const Plan& plan, Findings& findings) {
    const Lora& lora = plan.config.lora;
    const int64_t trained = plan.model->num_layers * lora_layer_count(*plan.model, lora);
    if (trained == 0) return;
    char share[32];
    std::snprintf(share, sizeof share, "%.3g %%",
                  100 * double(trained) / double(parameter_count(*plan.model)));
    findings.inform("LORA-SIZE", "adapter",
                    "an adapter of " + grouped(trained) + " parameters is trained, " + share +
                        " of the model's, which are frozen");
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
        findings.error("MODEL-MISSING", "base_model",
                       "no such folder: " + absolute_path(config.base_dir, config.base_model),
                       "relative paths start from " + config.base_dir);
    } else {
        find_by_id(request, plan, findings);
    }
}

}  // namespace

void resolve_model(const PlanRequest& request, Plan& plan, Findings& findings) {
    if (plan.config.base_model.empty()) return;
    resolve_shape(request, plan, findings);
    if (plan.model && plan.config.lora.on()) say_adapter(plan, findings);
}

}  // namespace ringmaster
