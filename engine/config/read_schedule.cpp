// Reads lr_scheduler and the keys that shape it.
#include <algorithm>
#include <map>

#include "engine/config/keys.h"
#include "engine/config/sections.h"
#include "engine/words/spelling.h"

namespace ringmaster {
namespace {

using nlohmann::json;

/// The arguments, numbers and words, that lr_scheduler_kwargs may hold for a schedule.
struct Arguments {
    LrScheduler scheduler;
    std::vector<std::string> numbers;
    std::map<std::string, std::vector<std::string>> words;
};

const std::vector<std::string>& stage_types() {
    static const std::vector<std::string> types{"linear", "cosine", "1-sqrt"};
    return types;
}

const std::vector<Arguments>& all_arguments() {
    using enum LrScheduler;
    static const std::vector<Arguments> all{
        {Cosine, {"num_cycles"}, {}},
        {CosineWithRestarts, {"num_cycles"}, {}},
        {Polynomial, {"lr_end", "power"}, {}},
        {InverseSqrt, {"timescale"}, {}},
        {CosineWithMinLr, {"num_cycles", "min_lr", "min_lr_rate"}, {}},
        {CosineWarmupWithMinLr, {"num_cycles", "min_lr", "min_lr_rate", "warmup_lr_rate"}, {}},
        {WarmupStableDecay,
         {"num_decay_steps", "num_stable_steps", "min_lr_ratio", "num_cycles"},
         {{"warmup_type", stage_types()}, {"decay_type", stage_types()}}},
        {OneCycle, {"pct_start", "div_factor", "final_div_factor"}, {{"anneal_strategy", {"cos", "linear"}}}},
    };
    return all;
}

const Arguments* arguments_of(LrScheduler scheduler) {
    for (const Arguments& arguments : all_arguments()) {
        if (arguments.scheduler == scheduler) return &arguments;
    }
    return nullptr;
}

void read_argument(KeyReader& keys, const Arguments& known, const std::string& name, Config& config) {
    const std::string path = "lr_scheduler_kwargs." + name;
    if (const auto words = known.words.find(name); words != known.words.end()) {
        if (const auto word = keys.word(path, words->second)) config.lr_scheduler_kwargs[name] = *word;
        return;
    }
    if (std::find(known.numbers.begin(), known.numbers.end(), name) != known.numbers.end()) {
        const bool divides = name.ends_with("div_factor") || name == "timescale";
        if (const auto number = keys.number(path, {.least = 0, .open_below = divides}))
            config.lr_scheduler_kwargs[name] = *number;
        return;
    }
    keys.error(Form("KEY-UNSUPPORTED", "schedule-argument"), path,
               {{"scheduler", to_string(config.lr_scheduler)}});
}

void read_arguments(KeyReader& keys, Config& config) {
    const json* said = keys.find("lr_scheduler_kwargs");
    if (!said || !is_on(*said)) return;
    if (!said->is_object())
        return keys.error(Form("CFG-TYPE", "mapping-only"), "lr_scheduler_kwargs", {{"value", shown(*said)}});
    static const Arguments none{LrScheduler::Linear, {}, {}};
    const Arguments* known = arguments_of(config.lr_scheduler);
    for (const auto& [name, value] : said->items()) {
        if (name == "cycle_momentum" && config.lr_scheduler == LrScheduler::OneCycle) continue;
        read_argument(keys, known ? *known : none, name, config);
    }
}

bool has_argument(const Config& config, const char* name) {
    return config.lr_scheduler_kwargs.contains(name);
}

/// Reports values that a schedule needs but the file lacks, and values that the schedule does not take.
void check_arguments(KeyReader& keys, const Config& config) {
    const auto demand = [&](const char* form) {
        keys.error(Form("CFG-SCHEDULE", form), "lr_scheduler",
                   {{"scheduler", to_string(config.lr_scheduler)}});
    };
    const LrScheduler scheduler = config.lr_scheduler;
    const bool ends_above =
        scheduler == LrScheduler::CosineWithMinLr || scheduler == LrScheduler::CosineWarmupWithMinLr;
    if (ends_above && has_argument(config, "min_lr") == has_argument(config, "min_lr_rate")) demand("min-lr");
    if (scheduler == LrScheduler::WarmupStableDecay && !has_argument(config, "num_decay_steps"))
        demand("decay-steps");
    if (scheduler == LrScheduler::Polynomial && keys.has("learning_rate") &&
        config.lr_scheduler_kwargs.value("lr_end", 1e-7) >= config.learning_rate)
        demand("end");
    const json* momentum = keys.find("lr_scheduler_kwargs.cycle_momentum");
    if (scheduler == LrScheduler::OneCycle && !(momentum && as_flag(*momentum) == false)) demand("momentum");
}

/// Reads the keys of the cosine schedule; rex also uses cosine_min_lr_ratio.
void read_cosine(KeyReader& keys, Config& config) {
    take(config.cosine_min_lr_ratio, keys.number("cosine_min_lr_ratio", {.least = 0, .most = 1}));
    take(config.cosine_constant_lr_ratio, keys.number("cosine_constant_lr_ratio", {.least = 0, .most = 1}));
    take(config.lr_quadratic_warmup, keys.flag("lr_quadratic_warmup"));
    const bool cosine = config.lr_scheduler == LrScheduler::Cosine,
               rex = config.lr_scheduler == LrScheduler::Rex;
    const auto no_effect = [&](const char* form, const char* key) {
        keys.warn(Form("CFG-SCHEDULE", form), key, {{"scheduler", to_string(config.lr_scheduler)}});
    };
    if (config.cosine_min_lr_ratio && !cosine && !rex) {
        no_effect("elsewhere", "cosine_min_lr_ratio");
        config.cosine_min_lr_ratio.reset();
    }
    if (config.cosine_constant_lr_ratio && !cosine) {
        no_effect("elsewhere", "cosine_constant_lr_ratio");
        config.cosine_constant_lr_ratio.reset();
    }
    if (config.lr_quadratic_warmup && !cosine) {
        no_effect("elsewhere", "lr_quadratic_warmup");
        config.lr_quadratic_warmup = false;
    }
    if (config.cosine_constant_lr_ratio && !config.cosine_min_lr_ratio)
        no_effect("constant-alone", "cosine_constant_lr_ratio");
    if (config.lr_quadratic_warmup && config.cosine_min_lr_ratio)
        no_effect("quadratic", "cosine_min_lr_ratio");
    if ((config.lr_quadratic_warmup || config.cosine_min_lr_ratio) && has_argument(config, "num_cycles")) {
        no_effect("cycles", "lr_scheduler_kwargs");
        config.lr_scheduler_kwargs.erase("num_cycles");
    }
}

/// Refuses schedules that adapt the learning rate to the loss, and unknown names.
void refuse_scheduler(KeyReader& keys, const std::string& said) {
    const bool by_loss = said == "reduce_lr_on_plateau" || said == "greedy";
    FindingValues parameters{{"value", said}};
    const std::string nearest = nearest_word(said, words_of<LrScheduler>());
    if (!nearest.empty()) parameters["nearest"] = nearest;
    keys.error(Form("KEY-UNSUPPORTED", by_loss ? "scheduler-by-loss" : "scheduler"), "lr_scheduler",
               std::move(parameters));
}

}  // namespace

void read_schedule(KeyReader& keys, Config& config) {
    if (const auto said = keys.text("lr_scheduler")) {
        if (const auto scheduler = from_word<LrScheduler>(*said)) {
            config.lr_scheduler = *scheduler;
        } else {
            return refuse_scheduler(keys, *said);
        }
    }
    read_arguments(keys, config);
    read_cosine(keys, config);
    check_arguments(keys, config);
}

}  // namespace ringmaster
