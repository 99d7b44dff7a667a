/// Computes each step's learning rate, the warmup's length, and the steps after which a run saves and
/// evaluates.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/config/config.h"

namespace ringmaster {

/// Returns the rate for step `step` (the first is 1) of `total_steps`. As in transformers, step s uses the
/// schedule at s − 1 (rate_factors.h).
double learning_rate_at(const Config& config, int64_t step, int64_t total_steps);

/// Returns the warmup steps: warmup_steps, else ceil(total × warmup_ratio).
int64_t warmup_steps_of(const Config& config, int64_t total_steps);

/// A recurring event: every `steps` steps, at each epoch's end, or never.
struct Interval {
    std::optional<int64_t> steps;
    bool at_epoch_end = false;

    bool is_due(int64_t step, bool epoch_ended) const {
        return (steps && step % *steps == 0) || (at_epoch_end && epoch_ended);
    }
};

/// Return when to save and when to evaluate. Saving follows save_steps (below 1: a fraction of all steps),
/// saves_per_epoch or save_strategy; evaluation follows the corresponding keys.
Interval saving_of(const Config& config, int64_t total_steps, int64_t steps_per_epoch);
Interval evaluation_of(const Config& config, int64_t total_steps, int64_t steps_per_epoch);

}  // namespace ringmaster
