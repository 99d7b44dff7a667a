// Reads the optimizer and its numbers: weight_decay, adam_*, optim_args, max_grad_norm.
#include <algorithm>
#include <cstdlib>

#include "engine/config/keys.h"
#include "engine/config/optimizer_arguments.h"
#include "engine/config/sections.h"
#include "engine/words/spelling.h"

namespace ringmaster {
namespace {

using nlohmann::json;

/// Refuses the optimizer. Suggests the nearest supported one, or else the one with the most similar name.
void refuse_optimizer(KeyReader& keys, const std::string& said) {
    std::string nearest(nearest_optimizer(said));
    if (nearest.empty()) nearest = nearest_word(said, known_optimizers());
    if (nearest.empty()) nearest = "adamw_torch";
    keys.error(Form("KEY-UNSUPPORTED", "optimizer"), "optimizer", {{"value", said}, {"nearest", nearest}});
}

void read_name(KeyReader& keys, Config& config) {
    const auto said = keys.text("optimizer");
    if (!said) return;
    const OptimizerKind* kind = find_optimizer(*said);
    if (!kind) return refuse_optimizer(keys, *said);
    config.optimizer = *said;
    config.optimizer_offloading = kind->paged;
}

/// Sets the rule's own defaults. axolotl passes the betas only if the file has both.
void take_defaults(KeyReader& keys, UpdateRule rule, Config& config) {
    const bool has_betas = keys.has("adam_beta1") && keys.has("adam_beta2");
    if (rule == UpdateRule::Muon && !has_betas) config.adam_beta1 = config.adam_beta2 = 0.95;
    if (rule == UpdateRule::Came && !keys.has("adam_epsilon") && !keys.has("adam_eps"))
        config.adam_epsilon = 1e-30;
}

/// Warns about adam_eps, a name that axolotl never had.
void warn_of_adam_eps(KeyReader& keys) {
    if (keys.has("adam_epsilon")) return keys.warn(Form("CFG-DEPRECATED", "adam-eps-idle"), "adam_eps");
    keys.warn(Form("CFG-DEPRECATED", "adam-eps"), "adam_eps", {},
              {keys.renaming("adam_eps", "adam_epsilon")});
}

void read_adam(KeyReader& keys, UpdateRule rule, Config& config) {
    take(config.weight_decay, keys.number("weight_decay"));
    take(config.adam_beta1, keys.number("adam_beta1", {.least = 0, .most = 1, .open_above = true}));
    take(config.adam_beta2, keys.number("adam_beta2", {.least = 0, .most = 1, .open_above = true}));
    take(config.adam_epsilon, keys.number(keys.has("adam_epsilon") ? "adam_epsilon" : "adam_eps"));
    if (keys.has("adam_eps")) warn_of_adam_eps(keys);
    take_defaults(keys, rule, config);
}

/// Reads the two keys that only CAME uses.
void read_third_beta(KeyReader& keys, UpdateRule rule, Config& config) {
    for (const auto& [key, name] : {std::pair{"adam_beta3", "beta3"}, std::pair{"adam_epsilon2", "eps2"}}) {
        const bool is_beta = std::string_view(name) == "beta3";
        const auto number =
            keys.number(key, {.least = 0, .most = is_beta ? 1 : 1e300, .open_above = is_beta});
        if (!number) continue;
        if (rule == UpdateRule::Came) {
            config.optim_args[name] = *number;
        } else {
            keys.inform(Form("CFG-OPTIMIZER", "beta"), key, {{"optimizer", config.optimizer}});
        }
    }
}

// ------------------------------------------------------------------------------------------ optim_args

/// Returns the arguments as axolotl reads them: a mapping, or text such as "momentum=0.9,nesterov=true".
std::optional<json> said_arguments(KeyReader& keys) {
    const json* said = keys.find("optim_args");
    if (!said || !is_on(*said)) return json::object();
    if (said->is_object()) return *said;
    if (!said->is_string()) return std::nullopt;
    json found = json::object();
    std::string text;
    for (const char c : said->get<std::string>()) {
        if (c != ' ') text += c;
    }
    for (size_t begin = 0; begin <= text.size();) {
        const size_t end = std::min(text.find(',', begin), text.size());
        const std::string mapping = text.substr(begin, end - begin);
        const size_t equals = mapping.find('=');
        if (equals == std::string::npos) return std::nullopt;
        found[mapping.substr(0, equals)] = mapping.substr(equals + 1);
        begin = end + 1;
    }
    return found;
}

/// Returns the number that an argument's value stands for; a switch is 0 or 1.
std::optional<double> number_of(const json& value, const OptimizerArgument& argument) {
    if (argument.kind == OptimizerArgument::Kind::Switch) {
        if (value == "yes" || value == "True") return 1.0;
        if (value == "no" || value == "False") return 0.0;
        const auto flag = as_flag(value);
        return flag ? std::optional(*flag ? 1.0 : 0.0) : std::nullopt;
    }
    double number = 0;
    if (value.is_number()) {
        number = value.get<double>();
    } else if (value.is_string() && !value.get_ref<const std::string&>().empty()) {
        const auto& text = value.get_ref<const std::string&>();
        char* end = nullptr;
        number = std::strtod(text.c_str(), &end);
        if (*end != '\0') return std::nullopt;
    } else {
        return std::nullopt;
    }
    const bool is_whole = number == static_cast<double>(static_cast<int64_t>(number));
    if (argument.kind == OptimizerArgument::Kind::Whole && !is_whole) return std::nullopt;
    return number >= argument.least && number <= argument.most ? std::optional(number) : std::nullopt;
}

/// Returns the field of Config that holds an argument; nullptr if it belongs to optim_args.
double* field_of(Config& config, std::string_view name) {
    if (find_optimizer(config.optimizer)->rule != UpdateRule::AdEMAMix) return nullptr;
    if (name == "beta1") return &config.adam_beta1;
    if (name == "beta2") return &config.adam_beta2;
    if (name == "eps") return &config.adam_epsilon;
    return nullptr;
}

void take_argument(KeyReader& keys, const std::string& name, const json& value, Config& config) {
    const std::string path = "optim_args";
    const auto known = arguments_of(*find_optimizer(config.optimizer));
    const auto argument =
        std::find_if(known.begin(), known.end(), [&](const auto& one) { return one.name == name; });
    if (argument == known.end()) {
        std::vector<std::string> names;
        for (const OptimizerArgument& one : known) names.emplace_back(one.name);
        const bool is_key = name == "lr" || name == "weight_decay";
        return keys.error(Form("KEY-UNSUPPORTED", is_key          ? "optimizer-key"
                                                  : names.empty() ? "optimizer-none"
                                                                  : "optimizer-argument"),
                          path,
                          {{"optimizer", config.optimizer},
                           {"name", name},
                           {"other_key", name == "lr" ? "learning_rate" : name},
                           {"known", listed(names)}});
    }
    const auto number = number_of(value, *argument);
    if (!number)
        return keys.error(Form("CFG-RANGE", "argument"), path,
                          {{"name", name}, {"value", shown(value)}, {"usual", shown(argument->otherwise)}});
    if (double* field = field_of(config, name)) {
        *field = *number;
    } else {
        config.optim_args[name] = *number;
    }
}

void check_arguments(KeyReader& keys, const Config& config) {
    const bool nesterov = optimizer_argument(config, "nesterov") > 0;
    if (find_optimizer(config.optimizer)->rule == UpdateRule::Sgd && nesterov &&
        (optimizer_argument(config, "momentum") == 0 || optimizer_argument(config, "dampening") != 0))
        keys.error(Form("CFG-OPTIMIZER", "nesterov"), "optim_args");
}

/// Returns whether transformers passes no optim_args to the optimizer.
bool ignores_arguments(const OptimizerKind& kind) {
    const bool is_adam_or_lion =
        kind.rule == UpdateRule::AdamW || kind.rule == UpdateRule::AdamWHf || kind.rule == UpdateRule::Lion;
    const bool is_of_torchao =
        kind.states == StateKind::TorchaoBlocks8 || kind.states == StateKind::TorchaoBlocks4;
    return is_adam_or_lion && !is_of_torchao && kind.name != "adamw_anyprecision";
}

void read_arguments(KeyReader& keys, Config& config) {
    const auto said = said_arguments(keys);
    if (!said)
        return keys.error(Form("CFG-TYPE", "arguments"), "optim_args",
                          {{"value", shown(*keys.find("optim_args"))}});
    if (!said->empty() && ignores_arguments(*find_optimizer(config.optimizer)))
        return keys.warn(Form("CFG-OPTIMIZER", "arguments"), "optim_args", {{"optimizer", config.optimizer}});
    for (const auto& [name, value] : said->items()) take_argument(keys, name, value, config);
    check_arguments(keys, config);
}

}  // namespace

void read_update(KeyReader& keys, Config& config) {
    read_name(keys, config);
    const UpdateRule rule = find_optimizer(config.optimizer)->rule;
    read_adam(keys, rule, config);
    read_third_beta(keys, rule, config);
    read_arguments(keys, config);
    if (const auto norm = keys.number("max_grad_norm")) {
        config.max_grad_norm = *norm > 0 ? std::optional(*norm) : std::nullopt;
    }
}

}  // namespace ringmaster
