// Reads how a run samples and judges completions: `trl` of rl: grpo and gdpo with trl.reward_funcs, as
// axolotl 0.19 passes it to TRL 1.16 (core/trainers/grpo/__init__.py).
#include <algorithm>

#include "engine/config/keys.h"
#include "engine/config/policy.h"
#include "engine/config/sections.h"

namespace ringmaster {
namespace {

using nlohmann::json;

constexpr const char* kFunctions = "trl.reward_funcs";

/// Keys that change which tokens are sampled, with the values that change nothing.
struct SamplingKey {
    const char* name;
    json idle;
};

const SamplingKey kRefused[] = {{"min_p", 0},
                                {"repetition_penalty", 1},
                                {"generation_kwargs", json::object()},
                                {"chat_template_kwargs", json::object()},
                                {"vllm_guided_decoding_regex", ""},
                                {"async_prefetch", false}};

/// Keys that configure logs which Ringmaster does not write.
constexpr const char* kLogged[] = {"log_completions", "num_completions_to_print"};

bool is_given(const json* value) {
    return value && !value->is_null();
}

/// Returns whether a name is that of a Python function in a module, rather than a model's path or hub id.
bool names_function(const std::string& name) {
    const size_t dot = name.rfind('.');
    return dot != std::string::npos && dot > 0 && dot + 1 < name.size() &&
           name.find_first_of("/\\ ") == std::string::npos;
}

void read_functions(KeyReader& keys, SamplingRule& rule) {
    const json& said = *keys.find(kFunctions);
    const auto is_text = [](const json& name) { return name.is_string(); };
    if (!said.is_array() || !std::all_of(said.begin(), said.end(), is_text))
        return keys.error(Form("CFG-SAMPLING", "functions"), kFunctions, {{"value", shown(said)}});
    for (size_t i = 0; i < said.size(); ++i) {
        const auto name = said[i].get<std::string>();
        if (!names_function(name)) keys.error(Form("CFG-SAMPLING", "model"), kFunctions, {{"value", name}});
        rule.functions.push_back(name);
    }
}

void read_weights(KeyReader& keys, SamplingRule& rule) {
    rule.weights.assign(rule.functions.size(), 1);
    const json* said = keys.find("trl.reward_weights");
    if (!is_given(said) || (said->is_array() && said->empty())) return;
    const auto is_number = [](const json& weight) { return weight.is_number(); };
    if (!said->is_array() || said->size() != rule.functions.size() ||
        !std::all_of(said->begin(), said->end(), is_number))
        return keys.error(Form("CFG-SAMPLING", "weights"), "trl.reward_weights",
                          {{"count", static_cast<int64_t>(rule.functions.size())}});
    rule.weights = said->get<std::vector<double>>();
}

/// Reads `scale_rewards`: a word, or true for group and false for none.
void read_scale(KeyReader& keys, SamplingRule& rule) {
    const json* said = keys.find("trl.scale_rewards");
    if (!is_given(said)) return;
    if (const auto flag = as_flag(*said))
        rule.scale = *flag ? RewardScale::Group : RewardScale::None;
    else
        take(rule.scale, keys.choice<RewardScale>("trl.scale_rewards"));
    if (rule.by_function && rule.scale != RewardScale::Group)
        keys.warn(Form("CFG-SAMPLING", "scale-idle"), "trl.scale_rewards");
}

void read_aggregation(KeyReader& keys, SamplingRule& rule, bool is_gdpo) {
    constexpr const char* kKey = "trl.multi_objective_aggregation";
    const auto word = keys.word(kKey, {"sum_then_normalize", "normalize_then_sum"});
    rule.by_function = word ? *word == "normalize_then_sum" : is_gdpo;
    if (is_gdpo && !rule.by_function) keys.error(Form("CFG-SAMPLING", "aggregation"), kKey);
}

void refuse_others(KeyReader& keys) {
    for (const SamplingKey& key : kRefused) {
        const std::string path = std::string("trl.") + key.name;
        const json* value = keys.find(path);
        if (is_given(value) && *value != key.idle) keys.error(Form("CFG-SAMPLING", "key"), path);
    }
    for (const char* key : {"trl.generation_batch_size", "trl.steps_per_generation"}) {
        if (is_given(keys.find(key))) keys.error(Form("CFG-SAMPLING", "round"), key);
    }
}

/// Reports keys that configure logs which this run does not write.
void say_others(KeyReader& keys) {
    for (const std::string key : kLogged) {
        const json* value = keys.find("trl." + key);
        if (value && is_on(*value)) keys.inform(Form("CFG-SAMPLING", "logged"), "trl." + key);
    }
}

}  // namespace

const char* to_string(RewardScale scale) {
    constexpr const char* kWords[] = {"group", "batch", "none"};
    return kWords[static_cast<int>(scale)];
}

void read_sampling(KeyReader& keys, Config& config, bool is_gdpo) {
    SamplingRule& rule = config.sampling.emplace();
    read_functions(keys, rule);
    read_weights(keys, rule);
    read_aggregation(keys, rule, is_gdpo);
    read_scale(keys, rule);
    const json* generations = keys.find("trl.num_generations");
    // In axolotl, 0 means TRL's default.
    if (generations && *generations != 0)
        take(rule.generations, keys.whole("trl.num_generations", {2, 1 << 16}));
    take(rule.top_k, keys.whole("trl.top_k", {0}));
    take(rule.top_p, keys.number("trl.top_p", {.least = 0, .most = 1, .open_below = true}));
    if (config.policy->answer_tokens == 0 && !is_given(keys.find("trl.max_completion_length")))
        keys.missing(Form("CFG-SAMPLING", "length"), "trl.max_completion_length", "trl");
    rule.server = read_rollout_server(keys, config.base_dir);
    refuse_others(keys);
    say_others(keys);
}

void settle_sampling(KeyReader& keys, Config& config) {
    if (!config.sampling) return;
    if (config.sample_packing) keys.error(Form("CFG-SAMPLING", "packed"), "sample_packing");
    if (config.group_by_length) keys.warn(Form("CFG-PREFERENCE", "lengths"), "group_by_length");
    config.group_by_length = false;  // axolotl's builder for `rl` does not pass group_by_length on
    if (config.sequence_len <= config.policy->answer_tokens)
        keys.error(Form("CFG-SAMPLING", "room"), "trl.max_completion_length",
                   {{"value", config.policy->answer_tokens}, {"sequence_len", config.sequence_len}});
}

}  // namespace ringmaster
