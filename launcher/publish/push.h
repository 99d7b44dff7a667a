/// Uploads a model's folder to the Hugging Face hub. The hub's own client uploads it, with the token of the
/// user's login or of HF_TOKEN; Ringmaster never reads the token.
#pragma once

#include <filesystem>
#include <string>

#include "launcher/base/places.h"
#include "launcher/base/progress.h"
#include "launcher/run/run_directory.h"

namespace ringmaster {

/// Returns the folder of a run's model. Writes a card with this title into it, if it has no README.md. Throws
/// Error, HUB-PUSH if the run has written no model on this machine.
std::filesystem::path model_with_card(const RunDirectory& run, const std::string& title);

struct Push {
    std::filesystem::path folder;  ///< holds a config.json or an adapter_config.json
    std::string repository;        ///< "owner/name"; made if it does not exist
    bool is_private = false;       ///< true: if the repository is made, it is private
};

/// Uploads everything but checkpoints and hidden files in one commit. Returns the repository's address.
/// Throws Error, HUB-PUSH if the hub cannot be reached or refuses, or Cancelled.
std::string push_folder(const Push& push, const Places& places, const Progress& progress);

}  // namespace ringmaster
