/// Writes the JSON that the browser's page draws: a run's state, figures, and curves reduced to the points
/// that a screen can show.
#pragma once

#include <nlohmann/json.hpp>

#include "engine/plan/plan.h"
#include "launcher/history/history.h"

namespace ringmaster {

/// Returns figures, verdict, curves of at most `points` points, checkpoints, alerts and the last events other
/// than steps.
nlohmann::json run_page(const RunHistory& history, const Plan* plan, double now, int points);

}  // namespace ringmaster
