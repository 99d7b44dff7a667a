// Reads which weights are trained, when a run ends early, which weights a run exports, and the order of rows.
#include <cctype>
#include <cmath>
#include <regex>

#include "engine/config/keys.h"
#include "engine/config/sections.h"

namespace ringmaster {
namespace {

using nlohmann::json;

void refuse_unfrozen(KeyReader& keys, const std::string& what) {
    keys.error(Form("CFG-VALUE", "unfrozen"), "unfrozen_parameters", {{"problem", what}});
}

bool is_readable(const std::string& pattern) {
    constexpr size_t kMost = 500;
    if (pattern.size() > kMost) return false;
    try {
        std::regex(pattern, std::regex::ECMAScript | std::regex_constants::__polynomial);
        return true;
    } catch (const std::regex_error&) {
        return false;
    }
}

void read_unfrozen(KeyReader& keys, Config& config) {
    const json* said = keys.find("unfrozen_parameters");
    if (!said || !is_on(*said)) return;
    std::vector<std::string> patterns;
    for (const json& pattern : said->is_array() ? *said : json::array({*said})) {
        if (!pattern.is_string() || pattern.get_ref<const std::string&>().empty())
            return refuse_unfrozen(keys, shown(pattern) + " is no pattern of parameters' names");
        patterns.push_back(pattern);
        if (!is_readable(patterns.back()))
            return refuse_unfrozen(keys, shown(pattern) + " is no regular expression that can be read");
    }
    if (config.lora.on()) return keys.error(Form("CFG-OPTIMIZER", "unfrozen-adapter"), "unfrozen_parameters");
    config.unfrozen_parameters = patterns;
}

bool has_evaluation_rows(const Config& config) {
    return config.val_set_size > 0 || !config.test_datasets.empty();
}

/// Returns how often to save or evaluate, by axolotl's rule: as a number of steps, or as a fraction of the
/// run if the file gives a number per epoch.
double cadence_of(const std::optional<double>& steps, const std::optional<double>& per_epoch, double epochs) {
    if (steps) return *steps;
    const double share = per_epoch && *per_epoch > 0 && epochs > 0 ? 1 / (*per_epoch * epochs) : 0;
    return share < 1 ? share : 0;
}

/// Returns whether each save coincides with an evaluation, by axolotl's rule.
bool saves_what_it_evaluates(const Config& config) {
    const double save = cadence_of(config.save_steps, config.saves_per_epoch, config.num_epochs);
    const double evaluate = cadence_of(config.eval_steps, config.evals_per_epoch, config.num_epochs);
    return save > 0 && evaluate > 0 && std::fmod(save, evaluate) == 0;
}

/// Returns `steps` as a whole number; 50 if it is missing or a fraction of the run.
int64_t whole_steps(const std::optional<double>& steps) {
    constexpr int64_t kOtherwise = 50;
    return steps && *steps >= 1 ? static_cast<int64_t>(*steps) : kOtherwise;
}

/// Returns the fix that saves after each evaluation. A number of steps replaces a number per epoch.
Fix saving_what_is_evaluated(const KeyReader& keys, int64_t steps) {
    Fix fix{{{"eval_steps", std::to_string(steps)}, {"save_steps", std::to_string(steps)}}};
    for (const char* key : {"evals_per_epoch", "saves_per_epoch"}) {
        if (keys.has(key)) fix.edits.push_back({key, "", true});
    }
    return fix;
}

void read_early_stopping(KeyReader& keys, Config& config) {
    const json* said = keys.find("early_stopping_patience");
    if (!said || !is_on(*said)) return;
    const auto patience = keys.whole("early_stopping_patience", {1});
    if (!patience) return;
    if (!has_evaluation_rows(config))
        return keys.error(Form("CFG-OPTIMIZER", "stopping-rows"), "early_stopping_patience");
    if (!keys.has("save_steps") || !keys.has("eval_steps") || !saves_what_it_evaluates(config))
        return keys.error(Form("CFG-OPTIMIZER", "stopping-steps"), "early_stopping_patience", {},
                          {saving_what_is_evaluated(keys, whole_steps(config.eval_steps))});
    config.early_stopping_patience = *patience;
    config.load_best_model_at_end = true;
}

/// Reads the loss watchdog's keys. axolotl treats a patience of 0 as the default.
void read_loss_watchdog(KeyReader& keys, Config& config) {
    config.loss_watchdog_threshold = keys.number("loss_watchdog_threshold");
    const int64_t patience = keys.whole("loss_watchdog_patience", {0}).value_or(0);
    if (patience > 0) config.loss_watchdog_patience = patience;
}

/// Returns whether the file has the key without a value, which axolotl treats as true.
bool asks_without_a_value(const KeyReader& keys) {
    const auto& values = keys.document().values;
    const auto said = values.find("load_best_model_at_end");
    return said != values.end() && said->is_null();
}

/// Checks metric_for_best_model. transformers accepts two names for the loss. Other metrics are refused: in
/// axolotl's evaluations they come from callbacks, or they grow as the model gets worse.
void read_best_metric(KeyReader& keys, const Config& config) {
    const bool highest = keys.flag("greater_is_better").value_or(false);
    const std::string metric = keys.text("metric_for_best_model").value_or("");
    if (!has_evaluation_rows(config) || config.eval_strategy == "no") return;
    if (!metric.empty() && metric != "loss" && metric != "eval_loss") {
        const char* form = keys.has("greater_is_better") ? "best-metric-greater" : "best-metric";
        keys.error(Form("CFG-OPTIMIZER", form), "metric_for_best_model", {{"metric", metric}});
    } else if (highest && (config.load_best_model_at_end || !metric.empty())) {
        keys.error(Form("CFG-OPTIMIZER", "best-highest"), "greater_is_better");
    }
}

void read_best_model(KeyReader& keys, Config& config) {
    const bool tacitly = asks_without_a_value(keys);
    if (!tacitly && !keys.flag("load_best_model_at_end").value_or(false)) return;
    if (has_evaluation_rows(config) && saves_what_it_evaluates(config)) {
        config.load_best_model_at_end = true;
        return;
    }
    if (!tacitly) keys.warn(Form("CFG-OPTIMIZER", "best"), "load_best_model_at_end");
}

void read_row_order(KeyReader& keys, Config& config) {
    if (!keys.flag("group_by_length").value_or(false)) return;
    if (config.sample_packing || config.curriculum_sampling) {
        const char* other = config.sample_packing ? "sample_packing" : "curriculum_sampling";
        keys.warn(Form("CFG-OPTIMIZER", "lengths"), "group_by_length", {{"other", other}});
        return;
    }
    config.group_by_length = true;
}

}  // namespace

void read_run_control(KeyReader& keys, Config& config) {
    read_unfrozen(keys, config);
    read_early_stopping(keys, config);
    read_loss_watchdog(keys, config);
    read_best_model(keys, config);
    read_best_metric(keys, config);
    read_row_order(keys, config);
}

}  // namespace ringmaster
