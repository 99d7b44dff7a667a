/// Says why a machine cannot run a plan.
#pragma once

#include <QString>

#include "engine/plan/plan.h"
#include "launcher/machine/machine.h"

namespace ringmaster {

/// Returns how many GPUs this machine lacks for the plan and what to do instead; empty if it has them.
QString missing_devices(const Plan& plan, const Machine& machine);

}  // namespace ringmaster
