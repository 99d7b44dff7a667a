/// Lets the engine add an adapter to its base model's weights.
#pragma once

#include <filesystem>

#include "engine/config/config.h"
#include "launcher/base/places.h"
#include "launcher/base/progress.h"

namespace ringmaster {

constexpr const char* kMergeCode = "MERGE-ADAPTER";

/// Writes a complete model into `to`, a new folder, from config_of_adapter or config_of_trained_adapter
/// (launcher/rows/generate.h). Throws Error or Cancelled.
void merge_adapter(const Config& config, const std::filesystem::path& to, const Places& places,
                   const Progress& progress);

}  // namespace ringmaster
