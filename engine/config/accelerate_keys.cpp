#include <algorithm>
#include <array>

#include "engine/config/accelerate.h"
#include "engine/config/key_reader.h"
#include "engine/config/keys.h"
#include "engine/words/spelling.h"

namespace ringmaster {
namespace {

using nlohmann::json;

constexpr std::string_view kPrefix = "parallelism_config_";

struct AccelerateGroup {
    std::string_view why;  ///< empty: the keys are used
    std::vector<std::string_view> keys;
};

const std::vector<AccelerateGroup>& groups() {
    static const std::vector<AccelerateGroup> all{
        {"",
         {"distributed_type", "num_processes", "num_machines", "mixed_precision", "parallelism_config",
          "deepspeed_config", "fsdp_config"}},
        {"machines, ports and processes are the launcher's own",
         {"compute_environment", "machine_rank", "main_process_ip", "main_process_port", "rdzv_backend",
          "rdzv_conf", "same_network", "main_training_function", "enable_cpu_affinity", "mpirun_config",
          "debug", "command_file", "command", "commands", "additional_args"}},
        {"devices are chosen by --device and CUDA_VISIBLE_DEVICES", {"gpu_ids", "use_cpu"}},
        {"picks a faster way to the same numbers; the engine has its own",
         {"dynamo_config", "dynamo_backend"}},
        {"for Intel's extension of PyTorch, which is not used", {"ipex_config", "xpu_config"}},
        {"for TPUs",
         {"downcast_bf16", "tpu_name", "tpu_zone", "tpu_cluster", "tpu_use_cluster", "tpu_use_sudo", "tpu_vm",
          "tpu_env"}},
        {"for Amazon SageMaker",
         {"ec2_instance_type", "iam_role_name", "image_uri", "profile", "region", "base_job_name",
          "pytorch_version", "transformers_version", "py_version", "sagemaker_inputs_file",
          "sagemaker_metrics_file"}},
        {"only means something with mixed_precision: fp8", {"fp8_config"}},
        {"only means something with distributed_type: MEGATRON_LM, which is not built",
         {"megatron_lm_config"}},
    };
    return all;
}

const AccelerateGroup* group_of(std::string_view key) {
    for (const AccelerateGroup& group : groups()) {
        if (std::find(group.keys.begin(), group.keys.end(), key) != group.keys.end()) return &group;
    }
    return nullptr;
}

const std::vector<std::string>& size_keys() {
    static const std::vector<std::string> names{
        "dp_replicate_size",     "dp_shard_size", "tp_size",    "cp_size",       "cp_backend",
        "cp_comm_strategy",      "sp_size",       "sp_backend", "sp_seq_length", "sp_seq_length_is_variable",
        "sp_attn_implementation"};
    return names;
}

void check_sizes(const Document& document, Diagnostics& diagnostics) {
    const json* sizes = document.find("parallelism_config");
    if (!sizes || !sizes->is_object()) return;
    for (const auto& [key, value] : sizes->items()) {
        const std::string name = key.starts_with(kPrefix) ? key.substr(kPrefix.size()) : key;
        if (std::find(size_keys().begin(), size_keys().end(), name) != size_keys().end()) continue;
        const std::string nearest = nearest_word(name, size_keys());
        const std::string path = "parallelism_config." + key;
        diagnostics.push_back(finding(
            Severity::Error, Form("KEY-UNKNOWN", nearest.empty() ? "accelerate-size" : "accelerate-near"),
            path, document.line(path), {{"nearest", std::string(kPrefix) + nearest}}));
    }
}

std::string upper(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
    return text;
}

}  // namespace

bool is_accelerate_key(std::string_view key) {
    return group_of(key) != nullptr;
}

bool is_accelerate(const Document& document) {
    constexpr std::array<const char*, 5> kTheirs{"compute_environment", "distributed_type",
                                                 "parallelism_config", "num_processes", "deepspeed_config"};
    constexpr std::array<const char*, 6> kAxolotls{"base_model",       "datasets",      "sequence_len",
                                                   "micro_batch_size", "learning_rate", "output_dir"};
    const auto there = [&](const char* key) { return document.values.contains(key); };
    return std::any_of(kTheirs.begin(), kTheirs.end(), there) &&
           std::none_of(kAxolotls.begin(), kAxolotls.end(), there);
}

KeyVerdicts judge_accelerate_keys(const Document& document, Diagnostics& diagnostics) {
    KeyVerdicts verdicts;
    std::vector<std::string> known;
    for (const AccelerateGroup& group : groups())
        known.insert(known.end(), group.keys.begin(), group.keys.end());
    for (const std::string& key : document.top_level_keys()) {
        const AccelerateGroup* group = group_of(key);
        if (group && group->why.empty()) {
            verdicts.used.push_back(key);
        } else if (group) {
            verdicts.no_effect.push_back({key, std::string(group->why)});
        } else if (document.anchor_holders.contains(key)) {
            verdicts.no_effect.push_back({key, "only holds values that other places of the file repeat"});
        } else {
            const std::string nearest = nearest_word(key, known);
            verdicts.unsupported.push_back({key, "not a key of accelerate"});
            diagnostics.push_back(
                finding(Severity::Error,
                        Form("KEY-UNKNOWN", nearest.empty() ? "accelerate-top" : "accelerate-top-near"), key,
                        document.line(key), {{"nearest", nearest}}));
        }
    }
    check_sizes(document, diagnostics);
    return verdicts;
}

void apply_environment(const std::map<std::string, std::string>& environment, Document& accelerate,
                       Diagnostics& diagnostics) {
    for (const auto& [name_said, text_said] : environment) {
        const std::string variable = printable(name_said);
        const std::string text = printable(text_said);
        const std::string key = lower_case(variable);
        if (!variable.starts_with("PARALLELISM_CONFIG_") || text.empty()) continue;
        const std::string name = key.substr(kPrefix.size());
        if (std::find(size_keys().begin(), size_keys().end(), name) == size_keys().end()) {
            const std::string nearest = nearest_word(name, size_keys());
            diagnostics.push_back(
                finding(Severity::Warning, Form("ACC-ENVIRONMENT", nearest.empty() ? "" : "near"), key, 0,
                        {{"variable", variable}, {"nearest", upper(std::string(kPrefix) + nearest)}}));
            continue;
        }
        json& sizes = accelerate.values["parallelism_config"];
        if (!sizes.is_object()) sizes = json::object();
        const json value = scalar_value(text);
        for (const std::string& spelled : {key, name}) {
            const auto before = sizes.find(spelled);
            if (before == sizes.end()) continue;
            if (*before != value) {
                const std::string path = "parallelism_config." + spelled;
                diagnostics.push_back(
                    finding(Severity::Info, Form("ACC-ENV-OVERRIDES"), path, accelerate.line(path),
                            {{"before", shown(*before)}, {"value", shown(value)}, {"variable", variable}}));
            }
            sizes.erase(before);
        }
        sizes[key] = value;
        accelerate.lines["parallelism_config." + key] = 0;
    }
}

void apply_over(const Document& from, Document& into) {
    for (const auto& [key, value] : from.values.items()) {
        if (value.is_object() && into.values.contains(key) && into.values[key].is_object()) {
            for (const auto& [inner, inner_value] : value.items()) {
                into.values[key][inner] = inner_value;
                into.lines[key + '.' + inner] = 0;
            }
        } else {
            put(into, key, value, 0);
        }
    }
}

}  // namespace ringmaster
