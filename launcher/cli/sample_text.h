/// Prints what a run wrote while it trained.
#pragma once

#include <string>

#include "launcher/cli/terminal.h"
#include "launcher/run/run_directory.h"

namespace ringmaster {

/// Returns the newest samples as lines for the user; empty if the run wrote none.
std::string newest_samples(const RunDirectory& run, const Terminal& terminal);

}  // namespace ringmaster
