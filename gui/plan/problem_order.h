/// Sorts problems so that those that stop everything come first.
#pragma once

#include "engine/config/diagnostic.h"

namespace ringmaster {

/// Sorts by severity: errors, warnings, notes. Among errors, an unreadable text comes first, then the method
/// and the model, then the rest by line.
void sort_by_weight(Diagnostics& problems);

}  // namespace ringmaster
