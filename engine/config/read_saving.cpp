#include <cmath>

#include "engine/config/paths.h"
#include "engine/config/sections.h"

namespace ringmaster {
namespace {

const std::vector<std::string> kEvaluations{"steps", "epoch", "no"}, kSaves{"steps", "epoch", "best", "no"};

/// Reads the number of steps between two saves or evaluations. A number below 1 is a fraction of all steps.
/// Returns nullopt for 0, because axolotl treats 0 like a missing key.
std::optional<double> read_interval(KeyReader& keys, const std::string& key) {
    const auto steps = keys.number(key);
    if (!steps || *steps == 0) return std::nullopt;
    if (*steps < 1 || *steps == std::floor(*steps)) return steps;
    keys.error(Form("CFG-RANGE", "steps"), key,
               {{"value", shown(*steps)}, {"whole", shown(std::floor(*steps))}});
    return std::nullopt;
}

std::optional<double> read_per_epoch(KeyReader& keys, const std::string& key) {
    const auto times = keys.number(key);
    return times && *times > 0 ? times : std::nullopt;
}

struct Cadence {
    std::optional<double> steps;
    std::optional<double> per_epoch;
    std::optional<std::string> strategy;
};

/// Applies axolotl's rules for `<what>_steps`, `<what>s_per_epoch` and `<what>_strategy`.
Cadence read_cadence(KeyReader& keys, const std::string& what, const std::string& strategy_key,
                     const std::vector<std::string>& strategies) {
    const std::string steps_key = what + "_steps";
    const std::string per_epoch_key = what + "s_per_epoch";
    Cadence cadence{read_interval(keys, steps_key), read_per_epoch(keys, per_epoch_key),
                    keys.word(strategy_key, strategies)};
    if (cadence.steps && cadence.per_epoch) {
        keys.error(Form("CFG-CONFLICT", "cadence"), per_epoch_key,
                   {{"steps_key", steps_key}, {"per_epoch_key", per_epoch_key}});
        cadence.per_epoch.reset();
    }
    if (cadence.strategy && *cadence.strategy != "steps" && (cadence.steps || cadence.per_epoch)) {
        const std::string& key = cadence.steps ? steps_key : per_epoch_key;
        keys.error(Form("CFG-CONFLICT", "strategy"), strategy_key,
                   {{"strategy", *cadence.strategy}, {"asking_key", key}});
        cadence.strategy.reset();
    }
    return cadence;
}

}  // namespace

void read_saving(KeyReader& keys, Config& config) {
    const auto output = keys.text("output_dir");
    config.output_dir = absolute_path(config.base_dir, output && !output->empty() ? *output : "./model-out");
    if (!keys.has("output_dir") && !config.accelerate_only) {
        keys.inform(Form("CFG-OUTPUT"), "output_dir", {{"folder", config.output_dir}});
    }
    const Cadence cadence = read_cadence(keys, "save", "save_strategy", kSaves);
    config.save_steps = cadence.steps;
    config.saves_per_epoch = cadence.per_epoch;
    const bool counted = cadence.steps || cadence.per_epoch;
    config.save_strategy = counted ? "steps" : cadence.strategy.value_or("epoch");
    if (config.save_strategy == "steps" && !counted) {
        constexpr double kTransformersDefault = 500;
        config.save_steps = kTransformersDefault;
        keys.inform(Form("CFG-SAVE"), "save_strategy");
    }
    constexpr int64_t kAxolotlLimit = 4;
    const int64_t limit = keys.whole("save_total_limit", {0}).value_or(0);
    config.save_total_limit = limit > 0 ? limit : kAxolotlLimit;
    take(config.logging_steps, read_interval(keys, "logging_steps"));
}

void read_evaluation(KeyReader& keys, Config& config) {
    const bool old_name = keys.has("evaluation_strategy");
    const std::string strategy_key =
        old_name && !keys.has("eval_strategy") ? "evaluation_strategy" : "eval_strategy";
    if (old_name) {
        std::vector<Fix> fixes;
        if (!keys.has("eval_strategy"))
            fixes.push_back(keys.renaming("evaluation_strategy", "eval_strategy"));
        keys.warn(Form("CFG-DEPRECATED", "renamed"), "evaluation_strategy", {{"name", "eval_strategy"}},
                  std::move(fixes));
    }
    const Cadence cadence = read_cadence(keys, "eval", strategy_key, kEvaluations);
    const bool counted = cadence.steps || cadence.per_epoch;
    if (config.val_set_size <= 0 && config.test_datasets.empty()) {
        config.eval_strategy = "no";
        const bool wanted = counted || (cadence.strategy && *cadence.strategy != "no");
        if (wanted) {
            const char* key = cadence.steps       ? "eval_steps"
                              : cadence.per_epoch ? "evals_per_epoch"
                                                  : strategy_key.c_str();
            keys.warn(Form("CFG-EVAL", "nothing"), key);
        }
        if (config.save_strategy == "best") keys.warn(Form("CFG-EVAL", "best"), "save_strategy");
        return;
    }
    config.eval_steps = cadence.steps;
    config.evals_per_epoch = cadence.per_epoch;
    config.eval_strategy = counted ? "steps" : cadence.strategy.value_or("epoch");
    if (config.eval_strategy == "steps" && !counted) {
        config.eval_steps = config.logging_steps;
        keys.inform(Form("CFG-EVAL", "default"), strategy_key, {{"steps", config.logging_steps}});
    }
}

}  // namespace ringmaster
