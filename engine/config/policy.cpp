#include "engine/config/policy.h"

#include <algorithm>

#include "engine/config/key_reader.h"
#include "engine/config/keys.h"
#include "engine/words/spelling.h"

namespace ringmaster {
namespace {

using nlohmann::json;

/// Keys that would change the update; axolotl passes them to TRL.
constexpr const char* kRefusedKeys[] = {"sync_ref_model",
                                        "entropy_coef",
                                        "use_adaptive_entropy",
                                        "rollout_func",
                                        "use_data_producer",
                                        "off_policy_mask_threshold",
                                        "num_iterations",
                                        "mask_truncated_completions",
                                        "skip_zero_advantage_batches"};

/// All other keys of axolotl's `trl` (utils/schemas/trl.py) except vLLM's, and the keys that Ringmaster adds.
constexpr const char* kKnown[] = {"beta",
                                  "max_completion_length",
                                  "use_vllm",
                                  "reward_funcs",
                                  "reward_weights",
                                  "generation_batch_size",
                                  "steps_per_generation",
                                  "num_generations",
                                  "log_completions",
                                  "num_completions_to_print",
                                  "importance_sampling_level",
                                  "ref_model_mixup_alpha",
                                  "ref_model_sync_steps",
                                  "scale_rewards",
                                  "temperature",
                                  "top_p",
                                  "top_k",
                                  "min_p",
                                  "repetition_penalty",
                                  "generation_kwargs",
                                  "chat_template_kwargs",
                                  "epsilon",
                                  "epsilon_high",
                                  "use_liger_loss",
                                  "loss_type",
                                  "entropy_target",
                                  "entropy_coef_delta",
                                  "entropy_coef_min",
                                  "entropy_coef_max",
                                  "log_multimodal",
                                  "multi_objective_aggregation",
                                  "async_prefetch",
                                  "prefetch_depth",
                                  "streaming_partial_batch",
                                  "streaming_min_groups",
                                  "use_bias_correction_kl",
                                  "reward_num_workers",
                                  "replay_buffer_size",
                                  "replay_recompute_logps",
                                  "reroll_start_fraction",
                                  "reroll_max_groups",
                                  "rollout_folder",
                                  "rollout_timeout"};

/// Reports keys of `trl` that axolotl does not know: an error if one resembles a known key.
void judge_unknown(KeyReader& keys) {
    const json* said = keys.find("trl");
    if (!said || !said->is_object()) return;
    std::vector<std::string> known(std::begin(kKnown), std::end(kKnown));
    known.insert(known.end(), std::begin(kRefusedKeys), std::end(kRefusedKeys));
    for (const auto& [key, value] : said->items()) {
        if (key.starts_with("vllm_") || std::find(known.begin(), known.end(), key) != known.end()) continue;
        const std::string nearest = misspelt_word(key, known);
        if (nearest.empty())
            keys.warn(Form("CFG-PREFERENCE", "policy-unknown"), "trl." + key);
        else
            keys.error(Form("CFG-PREFERENCE", "policy-near"), "trl." + key, {{"nearest", nearest}},
                       {keys.renaming("trl." + key, nearest)});
    }
}

void refuse_others(KeyReader& keys) {
    for (const std::string key : kRefusedKeys) {
        const json* value = keys.find("trl." + key);
        if (!value || !is_on(*value) || (key == "num_iterations" && *value == 1)) continue;
        keys.error(Form("CFG-PREFERENCE", "policy-key"), "trl." + key);
    }
    // By default, TRL multiplies the divergence by the ratio; the engine has only this form.
    if (keys.flag("trl.use_bias_correction_kl") == false)
        keys.error(Form("CFG-PREFERENCE", "policy-key"), "trl.use_bias_correction_kl");
}

/// Rejects evaluation, because its rows would need advantages, and TRL's loss over such rows measures nothing
/// useful.
void refuse_evaluation(KeyReader& keys) {
    for (const char* key : {"val_set_size", "test_datasets"}) {
        const json* value = keys.find(key);
        if (value && is_on(*value)) keys.error(Form("CFG-PREFERENCE", "policy-evaluation"), key);
    }
}

/// Reads how far a ratio may be from 1. As in TRL, both sides are `epsilon` by default.
void read_clipping(KeyReader& keys, PolicyRule& rule) {
    take(rule.epsilon_low, keys.number("trl.epsilon", kPositive));
    rule.epsilon_high = keys.number("trl.epsilon_high", kPositive).value_or(rule.epsilon_low);
}

}  // namespace

const char* to_string(PolicyLoss loss) {
    constexpr const char* kWords[] = {"grpo", "dapo", "dr_grpo"};
    return kWords[static_cast<int>(loss)];
}

void read_policy(KeyReader& keys, Config& config) {
    PolicyRule& rule = config.policy.emplace();
    take(rule.loss, keys.choice<PolicyLoss>("trl.loss_type"));
    rule.by_sequence = keys.word("trl.importance_sampling_level", {"token", "sequence"}) == "sequence";
    read_clipping(keys, rule);
    for (const char* key : {"rl_beta", "trl.beta"}) take(rule.beta, keys.number(key, {.least = 0}));
    take(rule.temperature, keys.number("trl.temperature", kPositive));
    take(rule.answer_tokens, keys.whole("trl.max_completion_length"));
    if (rule.loss == PolicyLoss::DrGrpo && rule.answer_tokens == 0)
        keys.missing(Form("CFG-PREFERENCE", "policy-length"), "trl.max_completion_length", "trl");
    judge_unknown(keys);
    refuse_others(keys);
    refuse_evaluation(keys);
}

bool weighs_documents(const Config& config) {
    return config.preference.on() || config.policy;
}

bool gets_rows_while_training(const Config& config) {
    return config.sampling || (config.policy && config.policy->folder);
}

bool has_reference(const Config& config) {
    return config.policy ? config.policy->beta != 0 : config.preference.has_reference();
}

}  // namespace ringmaster
