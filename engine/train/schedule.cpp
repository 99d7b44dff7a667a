#include "engine/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ringmaster {

namespace {

Recurrence recurrence(std::optional<double> steps, std::optional<double> per_epoch,
                      const std::string& strategy, int64_t total_steps, int64_t steps_per_epoch) {
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
    const auto at = static_cast<double>(step - 1);
    const auto warmup = static_cast<double>(warmup_steps_of(config, total_steps));
    const auto total = static_cast<double>(total_steps);
    if (config.lr_scheduler == LrScheduler::Constant) return config.learning_rate;
    if (at < warmup) return config.learning_rate * at / std::max(1.0, warmup);
    if (config.lr_scheduler == LrScheduler::ConstantWithWarmup) return config.learning_rate;
    const double rest = std::max(1.0, total - warmup);
    if (config.lr_scheduler == LrScheduler::Linear)
        return config.learning_rate * std::max(0.0, (total - at) / rest);
    const double lowest = config.cosine_min_lr_ratio.value_or(0);
    const double scaling = std::max(0.0, 0.5 * (1 + std::cos(std::numbers::pi * (at - warmup) / rest)));
    return config.learning_rate * ((1 - lowest) * scaling + lowest);
}

Recurrence saving_of(const Config& config, int64_t total_steps, int64_t steps_per_epoch) {
    return recurrence(config.save_steps, config.saves_per_epoch, config.save_strategy, total_steps,
                      steps_per_epoch);
}

Recurrence evaluation_of(const Config& config, int64_t total_steps, int64_t steps_per_epoch) {
    return recurrence(config.eval_steps, config.evals_per_epoch, config.eval_strategy, total_steps,
                      steps_per_epoch);
}

}  // namespace ringmaster
