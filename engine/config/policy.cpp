#include "engine/config/policy.h"

#include "engine/config/key_reader.h"
#include "engine/config/keys.h"

namespace ringmaster {
namespace {

using nlohmann::json;

constexpr const char* kPolicy = "policy";  ///< the rule's name in Config::tokenization
constexpr NumberRange kPositive{.least = 0, .open_below = true};

/// Keys that would change the update; axolotl passes them to TRL.
constexpr const char* kRefused[] = {"sync_ref_model",
                                    "entropy_coef",
                                    "use_adaptive_entropy",
                                    "rollout_func",
                                    "use_data_producer",
                                    "off_policy_mask_threshold",
                                    "num_iterations",
                                    "mask_truncated_completions",
                                    "skip_zero_advantage_batches"};

PolicyLoss loss_named(const std::string& word) {
    return word == "grpo" ? PolicyLoss::Grpo : word == "dr_grpo" ? PolicyLoss::DrGrpo : PolicyLoss::Dapo;
}

void refuse_others(KeyReader& keys) {
    for (const std::string key : kRefused) {
        const json* value = keys.find("trl." + key);
        if (!value || !is_on(*value) || (key == "num_iterations" && *value == 1)) continue;
        keys.error(Form("CFG-PREFERENCE", "policy-key"), "trl." + key);
    }
    // TRL weighs the divergence by the ratio unless this is false.
    if (keys.flag("trl.use_bias_correction_kl") == false)
        keys.error(Form("CFG-PREFERENCE", "policy-key"), "trl.use_bias_correction_kl");
}

/// Evaluation would need the advantages of other rollouts, and TRL's loss of them says nothing.
void refuse_evaluation(KeyReader& keys) {
    for (const char* key : {"val_set_size", "test_datasets"}) {
        const json* value = keys.find(key);
        if (value && is_on(*value)) keys.error(Form("CFG-PREFERENCE", "policy-evaluation"), key);
    }
}

/// Reads how far a ratio may be from 1. As in TRL, both sides are `epsilon` by default.
void read_clipping(KeyReader& keys, json& rule) {
    const double low = keys.number("trl.epsilon", kPositive).value_or(PolicyRule().epsilon_low);
    rule["epsilon_low"] = low;
    rule["epsilon_high"] = keys.number("trl.epsilon_high", kPositive).value_or(low);
}

}  // namespace

void read_policy(KeyReader& keys, Config& config) {
    json rule = json::object();
    rule["loss"] = keys.word("trl.loss_type", {"grpo", "dapo", "dr_grpo"}).value_or("dapo");
    rule["by_sequence"] =
        keys.word("trl.importance_sampling_level", {"token", "sequence"}).value_or("token") == "sequence";
    read_clipping(keys, rule);
    double beta = 0;
    for (const char* key : {"rl_beta", "trl.beta"}) take(beta, keys.number(key, {.least = 0}));
    rule["beta"] = beta;
    rule["temperature"] = keys.number("trl.temperature", kPositive).value_or(1);
    const int64_t longest = keys.whole("trl.max_completion_length").value_or(0);
    rule["answer_tokens"] = longest;
    if (rule["loss"] == "dr_grpo" && longest == 0)
        keys.missing(Form("CFG-PREFERENCE", "policy-length"), "trl.max_completion_length", "trl");
    refuse_others(keys);
    refuse_evaluation(keys);
    config.tokenization[kPolicy] = rule;
}

std::optional<PolicyRule> policy_of(const Config& config) {
    const auto found = config.tokenization.find(kPolicy);
    if (found == config.tokenization.end()) return std::nullopt;
    const json& said = *found;
    return PolicyRule{loss_named(said.at("loss")), said.at("by_sequence"), said.at("epsilon_low"),
                      said.at("epsilon_high"),     said.at("beta"),        said.at("answer_tokens"),
                      said.at("temperature")};
}

json options_of_rows(const Config& config) {
    json options = config.tokenization;
    options.erase(kPolicy);
    return options;
}

bool weighs_documents(const Config& config) {
    return config.preference.on() || policy_of(config).has_value();
}

bool has_reference(const Config& config) {
    const std::optional<PolicyRule> policy = policy_of(config);
    return policy ? policy->beta != 0 : config.preference.has_reference();
}

}  // namespace ringmaster
