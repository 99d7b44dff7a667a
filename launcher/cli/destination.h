/// Reads from a command's arguments where its runs train.
#pragma once

#include <vector>

#include "launcher/backends/backend.h"
#include "launcher/cli/arguments.h"

namespace ringmaster {

/// Returns --node, --slurm, --trust-on-first-use and --libtorch.
std::vector<OptionSpec> destination_options();

/// Throws Error(Usage) for an option whose value is not valid.
Destination destination_of(const Arguments& arguments);

/// Throws Error(Usage) for options of `launch`, `prepare` or `queue add` that contradict each other, before
/// anything is done.
void refuse_contradictions(const Arguments& arguments);

}  // namespace ringmaster
