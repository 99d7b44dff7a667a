/// Makes the plan of a config.
#pragma once

#include "engine/config/read_config.h"
#include "engine/plan/plan_request.h"

namespace ringmaster {

/// Returns the plan. Never throws for user mistakes: they become the plan's diagnostics, the worst first.
Plan make_plan(const ConfigReading& reading, const PlanRequest& request);

}  // namespace ringmaster
