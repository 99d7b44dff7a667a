/// The order in which a person should hear of problems: what stops everything first.
#pragma once

#include "engine/config/diagnostic.h"

namespace ringmaster {

/// Errors, warnings, notes; among errors a text that cannot be read, then the method and the model, then the
/// rest by line.
void sort_by_weight(Diagnostics& problems);

}  // namespace ringmaster
