/// Implements AdamW without a schedule: weights are trained at a point between the fast iterate z and the
/// average of all iterates, and evaluated at that average.
///
/// Source: Defazio et al. 2024, "The Road Less Scheduled"; schedulefree 1.4, adamw_schedulefree.py.
#pragma once

#include "engine/optimizers/update_rules.h"

namespace ringmaster {

std::unique_ptr<ElementRule> make_schedule_free(const Config& config, int64_t warmup_steps);

}  // namespace ringmaster
