/// Says what a machine must have to run the programs installed here, and installs what it lacks.
#pragma once

#include <optional>

#include "launcher/nodes/libtorch.h"

namespace ringmaster {

/// Returns what a machine must have to run the programs installed here.
ProgramNeeds program_needs(const Places& places);

/// Returns the remedy that installs LibTorch the chosen way; empty if no way was chosen.
Remedy remedy_of(const std::optional<LibTorchWay>& way, const Places& places, const Progress& progress);

/// Lets the threads of several nodes report, one at a time, and adds up what they have sent.
Progress summed(const Progress& progress);

}  // namespace ringmaster
