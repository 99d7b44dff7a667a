/// When things happen in a run: the learning rate of each step, how many steps there are, which of them save
/// and evaluate.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/config/config.h"

namespace ringmaster {

/// The rate that step `step` (the first is 1) updates with, out of `total_steps`. As transformers: step s
/// uses the schedule at s − 1 (rate_factors.h).
double learning_rate_at(const Config& config, int64_t step, int64_t total_steps);

/// Warmup steps: warmup_steps, else ceil(total × warmup_ratio).
int64_t warmup_steps_of(const Config& config, int64_t total_steps);

/// Something that recurs: every `steps` steps, or at each epoch's end, or never.
struct Recurrence {
    std::optional<int64_t> steps;
    bool at_epoch_end = false;

    bool is_due(int64_t step, bool epoch_ended) const {
        return (steps && step % *steps == 0) || (at_epoch_end && epoch_ended);
    }
};

/// From save_steps (below 1: a share of all steps), saves_per_epoch or save_strategy; likewise for
/// evaluation.
Recurrence saving_of(const Config& config, int64_t total_steps, int64_t steps_per_epoch);
Recurrence evaluation_of(const Config& config, int64_t total_steps, int64_t steps_per_epoch);

}  // namespace ringmaster
