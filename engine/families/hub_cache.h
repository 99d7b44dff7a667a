/// Finds a model in the Hugging Face hub's cache, as the hub's client does without a network.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/families/model_config.h"

namespace ringmaster {

/// Returns whether a text has the form of a model's or a dataset's id on the hub: "name" or "owner/name".
bool is_hub_id(const std::string& text);

/// Returns the folders that hold the model's revision: a branch, a tag or a commit. Without a revision,
/// returns main's folder and then all other snapshots.
std::vector<std::filesystem::path> cached_snapshots(const std::string& hub_id, const std::string& revision,
                                                    const std::filesystem::path& cache);

/// Reads the first config.json in these folders that can be read. Returns nullopt if there is none.
std::optional<ModelConfig> first_model_config(const std::vector<std::filesystem::path>& snapshots);

/// Reads the revision's config.json (main's without a revision). Returns nullopt if the cache has none that
/// can be read.
std::optional<ModelConfig> cached_model_config(const std::string& hub_id, const std::string& revision,
                                               const std::filesystem::path& cache);

}  // namespace ringmaster
