/// Checks a plan whose mesh, model and sequence are resolved: limits of this engine are errors; requirements
/// of other engines are warnings and notes that name their source. Each rule is one function and one line of
/// a table.
#pragma once

#include "engine/plan/findings.h"
#include "engine/plan/plan.h"

namespace ringmaster {

/// Reports what this engine cannot do yet; skips plans made from an accelerate file alone, which never run.
/// Moves the keys at fault from the plan's used keys to its unsupported keys.
void check_engine_limits(Plan& plan, Findings& findings);

/// Returns the message form of finding SEQ-CHUNKS that says why a sequence cannot be computed in chunks; null
/// if the sequence can be computed in chunks.
const char* obstacle_to_chunks(const Plan& plan);

/// Reports requirements of other engines, and cases in which they behave differently.
void check_rules(const Plan& plan, Findings& findings);

}  // namespace ringmaster
