/// Says what a machine must have to run the programs installed here, and installs what it lacks.
#pragma once

#include <optional>

#include "launcher/nodes/libtorch.h"

namespace ringmaster {

/// Returns what a machine must have to run the programs installed here.
ProgramNeeds program_needs(const Places& places);

/// Returns the remedy that installs LibTorch the chosen way; empty if no way was chosen.
Remedy remedy_of(const std::optional<LibTorchWay>& way, const Places& places, const Progress& progress);

/// Returns a Progress that the threads of several nodes can share: passes on one report at a time, and adds
/// up what the nodes have been sent.
Progress summed(const Progress& progress);

}  // namespace ringmaster
