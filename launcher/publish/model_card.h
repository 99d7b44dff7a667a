/// Writes the card of a trained model: the README.md that the Hugging Face hub shows, with the run's figures,
/// loss and data, the preflight's result and the configuration. Values that look like secrets are masked.
#pragma once

#include <filesystem>
#include <string>

#include "launcher/run/run_directory.h"

namespace ringmaster {

constexpr char kPictureName[] = "training-loss.svg";

struct ModelCard {
    std::string text;     ///< Markdown with the hub's metadata at its head
    std::string picture;  ///< SVG, for the file kPictureName next to the card; empty if no step has a loss
};

/// Reads the run. An empty `title` means the run's name. Throws Error if the plan or the configuration cannot
/// be read.
ModelCard model_card(const RunDirectory& run, const std::string& title = {});

/// Writes README.md and the picture into an existing folder. Throws Error(Refused) if there is a README.md
/// and `overwrite` is not set, or if they cannot be written.
void write_card(const ModelCard& card, const std::filesystem::path& folder, bool overwrite);

}  // namespace ringmaster
