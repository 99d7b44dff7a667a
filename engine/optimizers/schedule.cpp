#include "engine/optimizers/schedule.h"

#include <algorithm>
#include <cmath>

#include "engine/optimizers/rate_factors.h"

namespace ringmaster {

namespace {

Interval interval(std::optional<double> steps, std::optional<double> per_epoch, const std::string& strategy,
                  int64_t total_steps, int64_t steps_per_epoch) {
    auto at_least_one = [](double count) {
        return std::max<int64_t>(1, static_cast<int64_t>(std::ceil(count)));
    };
    if (strategy == "no") return {};
    if (steps && *steps > 0)
        return {at_least_one(*steps < 1 ? *steps * static_cast<double>(total_steps) : *steps), false};
    if (per_epoch && *per_epoch > 0)
        return {at_least_one(static_cast<double>(steps_per_epoch) / *per_epoch), false};
    return {std::nullopt, strategy == "epoch"};
}

}  // namespace

int64_t warmup_steps_of(const Config& config, int64_t total_steps) {
    if (config.warmup_steps) return *config.warmup_steps;
    return static_cast<int64_t>(std::ceil(static_cast<double>(total_steps) * config.warmup_ratio));
}

double learning_rate_at(const Config& config, int64_t step, int64_t total_steps) {
    return config.learning_rate *
           rate_factor(config, {static_cast<double>(step - 1),
                                static_cast<double>(warmup_steps_of(config, total_steps)),
                                static_cast<double>(total_steps)});
}

Interval saving_of(const Config& config, int64_t total_steps, int64_t steps_per_epoch) {
    return interval(config.save_steps, config.saves_per_epoch, config.save_strategy, total_steps,
                    steps_per_epoch);
}

Interval evaluation_of(const Config& config, int64_t total_steps, int64_t steps_per_epoch) {
    return interval(config.eval_steps, config.evals_per_epoch, config.eval_strategy, total_steps,
                    steps_per_epoch);
}

}  // namespace ringmaster
