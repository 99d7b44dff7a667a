/// Provides the built-in example: a YAML file with a model of a few million parameters, and its text.
#pragma once

#include <filesystem>

#include "launcher/places.h"
#include "launcher/progress.h"

namespace ringmaster {

/// Makes the example's training data in <cache_dir>/example from what set-up installed, and returns its YAML;
/// does nothing if it is there already. Throws Error(Unreachable) without the Python environment, and
/// Cancelled.
std::filesystem::path make_example(const Places& places, const Progress& progress);

}  // namespace ringmaster
