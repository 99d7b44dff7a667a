/// Reads the destination of a command's runs from its arguments.
#pragma once

#include <vector>

#include "engine/words/arguments.h"
#include "launcher/backends/backend.h"

namespace ringmaster {

/// Returns --node, --slurm, --trust-on-first-use and --libtorch.
std::vector<OptionSpec> destination_options();

/// Throws Error(Usage) for an option whose value is not valid.
Destination destination_of(const Arguments& arguments);

/// Throws Error(Usage) for options of `launch`, `prepare` or `queue add` that contradict each other, before
/// anything is done.
void refuse_contradictions(const Arguments& arguments);

}  // namespace ringmaster
