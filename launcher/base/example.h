/// Provides the built-in example: a YAML file for a model of a few million parameters, and training text.
#pragma once

#include <filesystem>

#include "launcher/base/places.h"
#include "launcher/base/progress.h"

namespace ringmaster {

/// Makes the example's YAML file and training data in <cache_dir>/example, from files that set-up installed,
/// and returns the YAML's path; does nothing if they are there already. Throws Error(Unreachable) without the
/// Python environment, and Cancelled.
std::filesystem::path make_example(const Places& places, const Progress& progress);

}  // namespace ringmaster
