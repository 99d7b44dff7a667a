/// The built-in example: a YAML with a model of a few million parameters and its text.
#pragma once

#include <filesystem>

#include "launcher/places.h"
#include "launcher/progress.h"

namespace ringmaster {

/// The YAML as it was installed: it can be planned, not launched (its text and tokenizer are not made yet).
std::filesystem::path example_to_plan(const Places& places);

/// Makes what the example trains on, out of what set-up has installed, in <cache_dir>/example, and returns
/// its YAML; nothing is done where it is there. Throws Error(Unreachable) without the Python environment, or
/// Cancelled.
std::filesystem::path make_example(const Places& places, const Progress& progress);

}  // namespace ringmaster
