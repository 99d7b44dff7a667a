/// Counts the time of copies between a device and host memory.
#pragma once

#include "engine/plan/plan.h"
#include "engine/plan/time/step_costs.h"

namespace ringmaster {

/// Adds the time of copies to the update's time, because a CPU computes nothing while it copies.
void add_copies_to_update(StepCosts& costs);

/// Adds the copies that chunks make between device and host memory: hidden states between layers, keys and
/// values, and the float32 sums of their gradients (engine/model/layer_keys.h).
void add_chunk_copies(const Plan& plan, double sequences, double element_s, StepCosts& costs);

}  // namespace ringmaster
