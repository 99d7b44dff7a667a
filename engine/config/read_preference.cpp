// Reads `rl` and its keys, and those of a reward model, as axolotl 0.19 passes them to TRL
// (core/builders/rl.py, core/builders/causal.py, core/trainers/dpo/__init__.py).
#include <algorithm>

#include "engine/config/keys.h"
#include "engine/config/policy.h"
#include "engine/config/sections.h"

namespace ringmaster {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

const Words kMethods{"dpo", "ipo", "orpo", "simpo", "kto"};
const Words kPolicies{"grpo", "gdpo"};
/// TRL's losses that the engine does not compute.
const Words kOtherLosses{"aot", "aot_unpaired", "discopop"};

bool contains(const Words& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

/// Returns whether a key has a value; null counts as none.
bool is_set(KeyReader& keys, const char* key) {
    const json* value = keys.find(key);
    return value && !value->is_null();
}

/// Reads rl: grpo and gdpo. Without reward functions, the rows are rollouts.
void read_policies(KeyReader& keys, Config& config, bool is_gdpo) {
    const json* rewards = keys.find("trl.reward_funcs");
    const bool samples = rewards && is_on(*rewards);
    if (is_gdpo && !samples) return keys.missing(Form("CFG-SAMPLING", "gdpo"), "trl.reward_funcs", "rl");
    read_policy(keys, config);
    read_rollout_folder(keys, config);
    if (samples) read_sampling(keys, config, is_gdpo);
}

/// Returns `rl`, or "" if it is absent, off or refused, or trains on rollouts.
std::string method_word(KeyReader& keys, Config& config) {
    const json* said = keys.find("rl");
    if (!said || !is_on(*said)) return {};
    const std::string word = said->is_string() ? said->get<std::string>() : "";
    if (contains(kPolicies, word)) {
        read_policies(keys, config, word == "gdpo");
        return {};
    }
    if (word == "ebft") {
        keys.error(Form("CFG-PREFERENCE", "sampling"), "rl", {{"value", word}});
        return {};
    }
    return keys.word("rl", kMethods).value_or("");
}

PreferenceMethod method_of(const std::string& word) {
    return word == "ipo"     ? PreferenceMethod::Dpo
           : word == "orpo"  ? PreferenceMethod::Orpo
           : word == "simpo" ? PreferenceMethod::Simpo
           : word == "kto"   ? PreferenceMethod::Kto
                             : PreferenceMethod::Dpo;
}

/// Reads β. In axolotl trl.beta wins over rl_beta, dpo_beta (its old name) and orpo_alpha, under every
/// method.
void read_beta(KeyReader& keys, Preference& preference) {
    for (const char* key : {"orpo_alpha", "dpo_beta", "rl_beta", "trl.beta"})
        take(preference.beta, keys.number(key, kPositive));
    if (is_set(keys, "dpo_beta") && !is_set(keys, "rl_beta"))
        keys.warn(Form("CFG-DEPRECATED", "renamed"), "dpo_beta", {{"name", "rl_beta"}},
                  {keys.renaming("dpo_beta", "rl_beta")});
}

/// Returns a loss that `dpo_loss_type` names, or nullopt if it is refused.
std::optional<PairLoss> loss_named(KeyReader& keys, const std::string& path) {
    const json& said = *keys.find(path);
    if (said.is_string() && contains(kOtherLosses, said.get<std::string>())) {
        keys.error(Form("CFG-PREFERENCE", "loss"), path, {{"value", said.get<std::string>()}});
        return std::nullopt;
    }
    return keys.choice<PairLoss>(path);
}

/// Reads the weight of each loss. If weights are given, there must be one for each loss.
void read_weights(KeyReader& keys, std::vector<PairTerm>& terms) {
    const json* weights = keys.find("dpo_loss_weights");
    if (!weights || weights->is_null()) return;
    if (!weights->is_array() || weights->size() != terms.size()) {
        return keys.error(Form("CFG-PREFERENCE", "weights"), "dpo_loss_weights",
                          {{"count", static_cast<int64_t>(terms.size())}});
    }
    for (size_t i = 0; i < terms.size(); ++i)
        take(terms[i].weight, keys.number("dpo_loss_weights." + std::to_string(i)));
}

/// Reads `dpo_loss_type`, a list of losses that are added, and `rpo_alpha`, which older versions of axolotl
/// read.
void read_terms(KeyReader& keys, Preference& preference) {
    const json* losses = keys.find("dpo_loss_type");
    if (losses && !losses->is_null()) {
        if (!losses->is_array() || losses->empty())
            return keys.error(Form("CFG-PREFERENCE", "losses"), "dpo_loss_type", {{"value", shown(*losses)}});
        preference.terms.clear();
        for (size_t i = 0; i < losses->size(); ++i) {
            if (const auto loss = loss_named(keys, "dpo_loss_type." + std::to_string(i)))
                preference.terms.push_back({*loss, 1});
        }
        if (preference.terms.size() != losses->size()) preference.terms = {{}};  // an error has been reported
    }
    read_weights(keys, preference.terms);
}

bool has_term(const Preference& preference, PairLoss loss) {
    return std::any_of(preference.terms.begin(), preference.terms.end(),
                       [&](const PairTerm& term) { return term.loss == loss; });
}

/// If `rpo_alpha` is set, adds the chosen answers' mean loss, which TRL calls `sft`. axolotl 0.19 refuses the
/// key.
void read_rpo(KeyReader& keys, Preference& preference) {
    const double weight = keys.number("rpo_alpha").value_or(0);
    if (weight == 0) return;
    keys.warn(Form("CFG-PREFERENCE", "rpo"), "rpo_alpha", {{"value", shown(weight)}});
    preference.terms.push_back({PairLoss::Sft, weight});
}

void read_smoothing(KeyReader& keys, Preference& preference) {
    const bool robust = has_term(preference, PairLoss::Robust), exo = has_term(preference, PairLoss::ExoPair);
    const NumberRange range{.least = 0, .most = robust ? 0.5 : 1, .open_above = true};
    take(preference.label_smoothing, keys.number("dpo_label_smoothing", range));
    if (exo && preference.label_smoothing == 0)
        keys.error(Form("CFG-PREFERENCE", "smoothing-missing"),
                   is_set(keys, "dpo_label_smoothing") ? "dpo_label_smoothing" : "dpo_loss_type");
    if (!robust && !exo && preference.label_smoothing != 0)
        keys.warn(Form("CFG-PREFERENCE", "smoothing-idle"), "dpo_label_smoothing");
}

void read_dpo(KeyReader& keys, Preference& preference, const std::string& method) {
    if (method == "ipo") preference.terms = {{PairLoss::Ipo, 1}};
    if (method == "dpo") read_terms(keys, preference);
    if (method == "dpo") read_smoothing(keys, preference);
    if (method == "dpo" || method == "ipo") read_rpo(keys, preference);
    if (method == "dpo") return;
    for (const char* key : {"dpo_loss_type", "dpo_loss_weights"}) {
        if (is_set(keys, key)) keys.error(Form("CFG-PREFERENCE", "dpo-only"), key, {{"method", method}});
    }
}

void read_simpo(KeyReader& keys, Preference& preference) {
    take(preference.cpo_alpha, keys.number("cpo_alpha"));
    if (!is_set(keys, "simpo_gamma"))
        return keys.missing(Form("CFG-PREFERENCE", "gamma"), "simpo_gamma", "rl");
    take(preference.simpo_gamma, keys.number("simpo_gamma"));
}

/// Reads KTO's weights; axolotl takes 0 as 1.
void read_kto(KeyReader& keys, Preference& preference) {
    const double desirable = keys.number("kto_desirable_weight").value_or(1);
    const double undesirable = keys.number("kto_undesirable_weight").value_or(1);
    preference.desirable_weight = desirable == 0 ? 1 : desirable;
    preference.undesirable_weight = undesirable == 0 ? 1 : undesirable;
}

/// Reads `reward_model` and its keys. A reward model gives one score per sequence.
void read_reward(KeyReader& keys, Preference& preference) {
    preference.beta = 1;
    take(preference.center_rewards, keys.number("center_rewards_coefficient"));
    const json* labels = keys.find("num_labels");
    if (labels && !labels->is_null() && *labels != 1)
        keys.error(Form("CFG-PREFERENCE", "labels"), "num_labels", {{"value", shown(*labels)}});
}

/// Reads `process_reward_model`: axolotl gives each step one of two labels by default.
void read_steps(KeyReader& keys, Config& config) {
    config.token_labels = keys.whole("num_labels", {2, 1 << 16}).value_or(2);
}

/// Reports restrictions of axolotl and TRL that do not apply in this engine.
void say_upstream(KeyReader& keys, const Config& config, const std::string& method) {
    if (config.sample_packing && !config.preference.scores())
        keys.inform(Form("CFG-PREFERENCE", "packed"), "sample_packing");
    if (method == "simpo" && config.warmup_ratio > 0)
        keys.warn(Form("CFG-PREFERENCE", "warmup"), "warmup_ratio");
    if (method == "kto" && config.micro_batch_size < 2)
        keys.warn(Form("CFG-PREFERENCE", "single"),
                  is_set(keys, "micro_batch_size") ? "micro_batch_size" : "rl");
}

/// Switches the adapter's dropout off, because TRL switches all dropout off.
void drop_dropout(KeyReader& keys, Config& config) {
    if (config.lora.dropout == 0) return;
    keys.inform(Form("CFG-PREFERENCE", "dropout"),
                is_set(keys, "lora_dropout") ? "lora_dropout" : "lora_model_dir");
    config.lora.dropout = 0;
}

void check_adapter(KeyReader& keys, Config& config, const std::string& method) {
    drop_dropout(keys, config);
    const auto folder = keys.text("lora_model_dir");
    if (!folder || folder->empty() || !config.preference.has_reference()) return;
    if (keys.flag("rl_adapter_ref_model").value_or(false))
        return keys.error(Form("CFG-PREFERENCE", "reference"), "rl_adapter_ref_model");
    keys.warn(Form("CFG-PREFERENCE", "adapter"), "lora_model_dir", {{"method", method}});
}

/// Keeps KTO's rows in axolotl's merged order in every epoch, because TRL does not shuffle them.
void keep_merged_order(Config& config) {
    constexpr const char* kShuffle = "shuffle_merged_datasets";
    if (config.curriculum_sampling &&
        (config.datasets.size() == 1 || !config.tokenization.contains(kShuffle)))
        config.tokenization[kShuffle] = false;
    config.curriculum_sampling = true;
}

}  // namespace

void read_preference(KeyReader& keys, Config& config) {
    const std::string method = method_word(keys, config);
    const bool scores = keys.flag("reward_model").value_or(false);
    const bool steps = keys.flag("process_reward_model").value_or(false);
    if ((scores ? 1 : 0) + (steps ? 1 : 0) + (!method.empty() || config.policy ? 1 : 0) > 1) {
        const char* key = scores ? "reward_model" : "process_reward_model";
        return keys.error(Form("CFG-PREFERENCE", "reward"), key, {{"key", key}});
    }
    if (steps) return read_steps(keys, config);
    if (scores) {
        config.preference.method = PreferenceMethod::Reward;
        return read_reward(keys, config.preference);
    }
    const bool on = !method.empty() || config.policy;
    if (on && is_set(keys, "pretraining_dataset"))
        keys.error(Form("CFG-PREFERENCE", "stream"), "pretraining_dataset");
    if (method.empty()) return;
    Preference& preference = config.preference;
    preference.method = method_of(method);
    read_beta(keys, preference);
    read_dpo(keys, preference, method);
    if (preference.method == PreferenceMethod::Simpo) read_simpo(keys, preference);
    if (preference.method == PreferenceMethod::Kto) read_kto(keys, preference);
}

void settle_preference(KeyReader& keys, Config& config) {
    settle_sampling(keys, config);
    settle_rollout_folder(keys, config);
    if ((config.preference.scores() || config.token_labels > 0) && is_set(keys, "sample_prompts"))
        keys.error(Form("PREFERENCE-LIMIT", "samples"), "sample_prompts");
    if (config.token_labels > 0 && config.lora.on()) drop_dropout(keys, config);
    if (!config.preference.on()) return;
    const std::string method = config.preference.scores() ? "reward_model" : keys.text("rl").value_or("");
    say_upstream(keys, config, method);
    if (config.group_by_length) keys.warn(Form("CFG-PREFERENCE", "lengths"), "group_by_length");
    config.group_by_length = false;  // axolotl's builder for `rl` does not pass group_by_length on
    if (config.preference.method == PreferenceMethod::Kto) keep_merged_order(config);
    if (config.lora.on()) check_adapter(keys, config, method);
}

}  // namespace ringmaster
