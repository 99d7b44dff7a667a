/// Rules over a plan whose mesh, model and sequence are resolved: what this engine cannot do yet (errors),
/// and what only other engines ask for (warnings and infos that name their source). Each is one function and
/// one line of a table.
#pragma once

#include "engine/plan/findings.h"
#include "engine/plan/plan.h"

namespace ringmaster {

/// What this engine does not build yet; not for a plan that is not to be launched (an accelerate file alone).
/// Moves the keys to blame from the plan's used ones to its unsupported ones.
void check_engine_limits(Plan& plan, Findings& findings);

/// Heads, rows that others ask for, and what they do otherwise.
void check_rules(const Plan& plan, Findings& findings);

}  // namespace ringmaster
