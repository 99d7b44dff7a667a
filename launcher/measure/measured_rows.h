/// Writes the rows that `ringmaster plan --measure` trains on: random tokens in rows as long as the plan
/// allows. They have the form that the run's loss needs (engine/data/tokens.h, engine/data/rollouts.h).
#pragma once

#include <filesystem>

#include "engine/plan/plan.h"

namespace ringmaster {

/// Writes `plan.batch.global` rows to `file`. The plan has to have a model. A packed row of preferences holds
/// one pair. Rollouts have advantages of both signs and no old log-probabilities. Throws Error(Refused) if
/// the file cannot be written.
void write_measured_rows(const std::filesystem::path& file, const Plan& plan);

}  // namespace ringmaster
