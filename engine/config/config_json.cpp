// Converts Config to JSON and back. One list of fields serves both directions, so that no field can be
// forgotten in one of them.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <string_view>
#include <type_traits>
#include <vector>

#include "engine/config/config.h"
#include "engine/config/words.h"
#include "engine/error.h"

namespace ringmaster {
namespace {

using nlohmann::json;

template <class ConfigType, class Visitor>
void each_data_field(ConfigType& c, const Visitor& visit) {
    visit("file", c.file);
    visit("base_dir", c.base_dir);
    visit("base_model", c.base_model);
    visit("model_dir", c.model_dir);
    visit("tokenizer", c.tokenizer);
    visit("reinit_weights", c.reinit_weights);
    visit("attn_implementation", c.attn_implementation);
    visit("output_router_logits", c.output_router_logits);
    visit("router_aux_loss_coef", c.router_aux_loss_coef);
    visit("datasets", c.datasets);
    visit("test_datasets", c.test_datasets);
    visit("special_tokens", c.special_tokens);
    visit("tokenization", c.tokenization);
    visit("dataset_prepared_path", c.dataset_prepared_path);
    visit("val_set_size", c.val_set_size);
    visit("sequence_len", c.sequence_len);
    visit("sample_packing", c.sample_packing);
    visit("pad_to_sequence_len", c.padding.to_sequence_len);
    visit("fixed_length", c.padding.fixed_length);
    visit("excess_length", c.excess_length);
    visit("curriculum_sampling", c.curriculum_sampling);
    visit("seed", c.seed);
}

template <class ConfigType, class Visitor>
void each_training_field(ConfigType& c, const Visitor& visit) {
    visit("micro_batch_size", c.micro_batch_size);
    visit("gradient_accumulation_steps", c.gradient_accumulation_steps);
    visit("max_steps", c.max_steps);
    visit("num_epochs", c.num_epochs);
    visit("optimizer", c.optimizer);
    visit("learning_rate", c.learning_rate);
    visit("lr_scheduler", c.lr_scheduler);
    visit("warmup_steps", c.warmup_steps);
    visit("warmup_ratio", c.warmup_ratio);
    visit("cosine_min_lr_ratio", c.cosine_min_lr_ratio);
    visit("cosine_constant_lr_ratio", c.cosine_constant_lr_ratio);
    visit("lr_quadratic_warmup", c.lr_quadratic_warmup);
    visit("lr_scheduler_kwargs", c.lr_scheduler_kwargs);
    visit("weight_decay", c.weight_decay);
    visit("adam_beta1", c.adam_beta1);
    visit("adam_beta2", c.adam_beta2);
    visit("adam_epsilon", c.adam_epsilon);
    visit("max_grad_norm", c.max_grad_norm);
    visit("optim_args", c.optim_args);
    visit("embedding_lr", c.embedding_lr);
    visit("embedding_lr_scale", c.embedding_lr_scale);
    visit("lr_groups", c.lr_groups);
    visit("loraplus_lr_ratio", c.loraplus_lr_ratio);
    visit("unfrozen_parameters", c.unfrozen_parameters);
    visit("early_stopping_patience", c.early_stopping_patience);
    visit("loss_watchdog_threshold", c.loss_watchdog_threshold);
    visit("loss_watchdog_patience", c.loss_watchdog_patience);
    visit("load_best_model_at_end", c.load_best_model_at_end);
    visit("group_by_length", c.group_by_length);
    visit("precision", c.precision);
    visit("gradient_checkpointing", c.gradient_checkpointing);
    visit("selective_checkpointing", c.selective_checkpointing);
    visit("activation_offloading", c.activation_offloading);
    visit("tiled_mlp", c.tiled_mlp);
    visit("tiled_mlp_num_shards", c.tiled_mlp_shards);
    visit("sequence_chunks", c.sequence_chunks);
    visit("optimizer_offloading", c.optimizer_offloading);
    visit("parameter_offloading", c.parameter_offloading);
    visit("optimizer_disk", c.optimizer_disk);
    visit("lora_r", c.lora.r);
    visit("lora_alpha", c.lora.alpha);
    visit("lora_dropout", c.lora.dropout);
    visit("lora_rslora", c.lora.rslora);
    visit("lora_dora", c.lora.dora);
    visit("lora_targets", c.lora.targets);
    visit("lora_model_dir", c.lora.model_dir);
    visit("lora_base_model", c.lora.base_model);
    visit("lora_layers", c.lora.layers);
    visit("lora_parameters", c.lora.parameters);
    visit("weight_format", c.quantization.format);
    visit("weight_block", c.quantization.block);
    visit("weight_scales_nested", c.quantization.nested);
    visit("weight_stored", c.quantization.stored);
    visit("weight_experts", c.quantization.experts);
    visit("preference", c.preference.method);
    visit("preference_beta", c.preference.beta);
    visit("preference_terms", c.preference.terms);
    visit("preference_label_smoothing", c.preference.label_smoothing);
    visit("simpo_gamma", c.preference.simpo_gamma);
    visit("cpo_alpha", c.preference.cpo_alpha);
    visit("kto_desirable_weight", c.preference.desirable_weight);
    visit("kto_undesirable_weight", c.preference.undesirable_weight);
    visit("center_rewards_coefficient", c.preference.center_rewards);
    visit("token_labels", c.token_labels);
    visit("policy", c.policy);
    visit("sampling", c.sampling);
}

template <class Rule, class Visitor>
void each_rule_field(Rule& rule,
                     const Visitor& visit) requires std::is_same_v<std::remove_const_t<Rule>, PolicyRule> {
    visit("loss", rule.loss);
    visit("by_sequence", rule.by_sequence);
    visit("epsilon_low", rule.epsilon_low);
    visit("epsilon_high", rule.epsilon_high);
    visit("beta", rule.beta);
    visit("answer_tokens", rule.answer_tokens);
    visit("temperature", rule.temperature);
    visit("folder", rule.folder);
}

template <class Rule, class Visitor>
void each_rule_field(Rule& rule,
                     const Visitor& visit) requires std::is_same_v<std::remove_const_t<Rule>, RolloutFolder> {
    visit("path", rule.path);
    visit("timeout", rule.timeout);
}

template <class Rule, class Visitor>
void each_rule_field(Rule& rule,
                     const Visitor& visit) requires std::is_same_v<std::remove_const_t<Rule>, SamplingRule> {
    visit("generations", rule.generations);
    visit("top_k", rule.top_k);
    visit("top_p", rule.top_p);
    visit("scale", rule.scale);
    visit("by_function", rule.by_function);
    visit("functions", rule.functions);
    visit("weights", rule.weights);
    visit("server", rule.server);
}

template <class Rule, class Visitor>
void each_rule_field(Rule& rule,
                     const Visitor& visit) requires std::is_same_v<std::remove_const_t<Rule>, RolloutServer> {
    visit("host", rule.host);
    visit("port", rule.port);
    visit("url", rule.url);
    visit("key_variable", rule.key_variable);
    visit("key_file", rule.key_file);
    visit("ca_file", rule.ca_file);
    visit("timeout", rule.timeout);
    visit("reload_command", rule.reload_command);
    visit("corrects", rule.corrects);
    visit("ratio", rule.ratio);
    visit("cap", rule.cap);
}

template <class ConfigType, class Visitor>
void each_run_field(ConfigType& c, const Visitor& visit) {
    visit("output_dir", c.output_dir);
    visit("save_steps", c.save_steps);
    visit("saves_per_epoch", c.saves_per_epoch);
    visit("save_strategy", c.save_strategy);
    visit("save_total_limit", c.save_total_limit);
    visit("eval_steps", c.eval_steps);
    visit("evals_per_epoch", c.evals_per_epoch);
    visit("eval_strategy", c.eval_strategy);
    visit("eval_batch_size", c.eval_batch_size);
    visit("logging_steps", c.logging_steps);
    visit("context_parallel_size", c.context_parallel_size);
    visit("ulysses_size", c.ulysses_size);
    visit("dp_shard_size", c.dp_shard_size);
    visit("dp_replicate_size", c.dp_replicate_size);
    visit("expert_parallel_size", c.expert_parallel_size);
    visit("heads_k_stride", c.heads_k_stride);
    visit("ring_attn_func", c.ring_attn_func);
    visit("zero_stage_asked", c.zero_stage_asked);
    visit("ranks", c.ranks);
    visit("nodes", c.nodes);
    visit("ddp_timeout", c.ddp_timeout);
    visit("accelerate_only", c.accelerate_only);
    visit("lines", c.lines);
}

template <class ConfigType, class Visitor>
void each_field(ConfigType& config, const Visitor& visit) {
    each_data_field(config, visit);
    each_training_field(config, visit);
    each_run_field(config, visit);
}

template <class T>
constexpr bool is_optional = false;
template <class T>
constexpr bool is_optional<std::optional<T>> = true;
template <class T>
constexpr bool is_rule = std::is_same_v<T, PolicyRule> || std::is_same_v<T, SamplingRule> ||
                         std::is_same_v<T, RolloutServer> || std::is_same_v<T, RolloutFolder>;

template <class T>
json to_json_value(const T& value) {
    if constexpr (std::is_enum_v<T>) {
        return to_string(value);
    } else if constexpr (std::is_same_v<T, std::vector<PairTerm>>) {
        json terms = json::array();
        for (const PairTerm& term : value) terms.push_back({to_string(term.loss), term.weight});
        return terms;
    } else if constexpr (is_rule<T>) {
        json rule = json::object();
        each_rule_field(value,
                        [&](const char* name, const auto& field) { rule[name] = to_json_value(field); });
        return rule;
    } else if constexpr (is_optional<T>) {
        return value ? to_json_value(*value) : json();
    } else {
        return value;
    }
}

/// Returns whether plans of version 0.1.0, or some later plans, may lack the field. A missing field keeps its
/// default, which matches the behaviour of the version that wrote the plan.
bool is_newer_than_0_1(std::string_view name) {
    constexpr std::string_view kNewer[] = {"cosine_constant_lr_ratio",
                                           "expert_parallel_size",
                                           "optimizer_disk",
                                           "sequence_chunks",
                                           "lr_quadratic_warmup",
                                           "lr_scheduler_kwargs",
                                           "lora_layers",
                                           "lora_parameters",
                                           "weight_format",
                                           "weight_block",
                                           "weight_scales_nested",
                                           "weight_stored",
                                           "weight_experts",
                                           "lora_dora",
                                           "parameter_offloading",
                                           "optim_args",
                                           "embedding_lr",
                                           "embedding_lr_scale",
                                           "lr_groups",
                                           "loraplus_lr_ratio",
                                           "unfrozen_parameters",
                                           "early_stopping_patience",
                                           "loss_watchdog_threshold",
                                           "loss_watchdog_patience",
                                           "load_best_model_at_end",
                                           "group_by_length",
                                           "preference",
                                           "preference_beta",
                                           "preference_terms",
                                           "preference_label_smoothing",
                                           "simpo_gamma",
                                           "cpo_alpha",
                                           "kto_desirable_weight",
                                           "kto_undesirable_weight",
                                           "center_rewards_coefficient",
                                           "token_labels",
                                           "policy",
                                           "sampling",
                                           "policy.folder",
                                           "sampling.server.url",
                                           "sampling.server.key_variable",
                                           "sampling.server.key_file",
                                           "sampling.server.ca_file"};
    return std::find(std::begin(kNewer), std::end(kNewer), name) != std::end(kNewer);
}

/// Reads one field from a JSON value. Accepts only the JSON type that each_field writes.
class FieldReader {
  public:
    explicit FieldReader(const json& object) : m_object(object) {}

    template <class T>
    void operator()(const char* name, T& field) const {
        const auto found = m_object.find(name);
        if (found != m_object.end()) return read(name, *found, field);
        if (!is_newer_than_0_1(name)) refuse(name, "is missing");
    }

  private:
    [[noreturn]] static void refuse(const char* name, const std::string& what) {
        throw Error(Failure::Refused, Code("FILE-DAMAGED"), "the field " + what,
                    std::string("config.") + name);
    }

    static void read(const char* name, const json& value, std::string& field) {
        if (!value.is_string()) refuse(name, "has to be text");
        field = value.get<std::string>();
    }
    static void read(const char* name, const json& value, bool& field) {
        if (!value.is_boolean()) refuse(name, "has to be true or false");
        field = value.get<bool>();
    }
    static void read(const char* name, const json& value, double& field) {
        if (!value.is_number()) refuse(name, "has to be a number");
        field = value.get<double>();
    }
    static void read(const char* name, const json& value, int64_t& field) {
        constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
        if (!value.is_number_integer() || (value.is_number_unsigned() && value.get<uint64_t>() > kMost)) {
            refuse(name, "has to be a whole number");
        }
        field = value.get<int64_t>();
    }
    static void read(const char* name, const json& value, int& field) {
        int64_t wide = 0;
        read(name, value, wide);
        if (wide < std::numeric_limits<int>::min() || wide > std::numeric_limits<int>::max()) {
            refuse(name, "is out of range");
        }
        field = static_cast<int>(wide);
    }
    static void read(const char* name, const json& value, json& field) {
        if (value.type() != field.type())
            refuse(name, field.is_array() ? "has to be a list" : "has to be an object");
        field = value;
    }
    static void read(const char* name, const json& value, std::vector<std::string>& field) {
        if (!value.is_array()) refuse(name, "has to be a list");
        field.clear();
        for (const json& item : value) read(name, item, field.emplace_back());
    }
    static void read(const char* name, const json& value, std::vector<int64_t>& field) {
        if (!value.is_array()) refuse(name, "has to be a list");
        field.clear();
        for (const json& item : value) read(name, item, field.emplace_back());
    }
    static void read(const char* name, const json& value, std::vector<PairTerm>& field) {
        if (!value.is_array() || value.empty()) refuse(name, "has to be a list of terms");
        field.clear();
        for (const json& item : value) {
            if (!item.is_array() || item.size() != 2)
                refuse(name, "has to hold pairs of a word and a number");
            PairTerm& term = field.emplace_back();
            read(name, item[0], term.loss);
            read(name, item[1], term.weight);
        }
    }
    static void read(const char* name, const json& value, std::vector<double>& field) {
        if (!value.is_array()) refuse(name, "has to be a list");
        field.clear();
        for (const json& item : value) read(name, item, field.emplace_back());
    }
    template <class T>
    requires is_rule<T>
    static void read(const char* name, const json& value, T& field) {
        if (!value.is_object()) refuse(name, "has to be an object");
        each_rule_field(field, [&](const char* part, auto& part_field) {
            const std::string path = std::string(name) + "." + part;
            const auto found = value.find(part);
            if (found != value.end()) return read(path.c_str(), *found, part_field);
            if (!is_newer_than_0_1(path)) refuse(path.c_str(), "is missing");
        });
    }
    static void read(const char* name, const json& value, std::map<std::string, int>& field) {
        if (!value.is_object()) refuse(name, "has to be an object");
        field.clear();
        for (const auto& [key, line] : value.items()) read(name, line, field[key]);
    }
    template <class T>
    static void read(const char* name, const json& value, std::optional<T>& field) {
        field.reset();
        if (!value.is_null()) read(name, value, field.emplace());
    }
    template <class T>
    requires std::is_enum_v<T>
    static void read(const char* name, const json& value, T& field) {
        std::string word;
        read(name, value, word);
        const auto found = from_word<T>(word);
        if (!found) refuse(name, "has the unknown value '" + word + "'");
        field = *found;
    }

    const json& m_object;
};

}  // namespace

json config_to_json(const Config& config) {
    json object = json::object();
    each_field(config, [&](const char* name, const auto& field) { object[name] = to_json_value(field); });
    return object;
}

Config config_from_json(const json& object) {
    if (!object.is_object())
        throw Error(Failure::Refused, Code("FILE-DAMAGED"), "the configuration is not a JSON object",
                    "config");
    Config config;
    each_field(config, FieldReader(object));
    return config;
}

}  // namespace ringmaster
