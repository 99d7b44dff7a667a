/// Generates text with a model's folder, an adapter's folder or a run, by the engine.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/config/config.h"
#include "launcher/places.h"
#include "launcher/progress.h"
#include "launcher/run_directory.h"

namespace ringmaster {

struct NamedModel {
    std::string name;  ///< "trained" or "base"
    Config config;     ///< configuration that names the folders of weights and adapter
};

struct ModelsToTry {
    NamedModel trained, base;
    std::filesystem::path tokenizer;  ///< a folder with a tokenizer.json
};

/// Reads an adapter's folder as a configuration that continues training from it; the folder names its base,
/// or `base` does. Throws Error with `code`.
Config config_of_adapter(const std::filesystem::path& folder, const std::string& base, const char* code);
/// Returns the run's configuration with its base, quantized as it was, and the adapter in output_dir. Throws
/// Error with `code` if it has none yet.
Config config_of_trained_adapter(const RunDirectory& run, const char* code);

/// Finds the models of a folder; `base` is passed to config_of_adapter. Throws Error.
ModelsToTry models_of_folder(const std::filesystem::path& folder, const std::string& base);
/// Finds the models of a run that has written its result. Throws Error.
ModelsToTry models_of_run(const RunDirectory& run);

struct Wish {
    std::vector<nlohmann::json> prompts;  ///< texts, or lists of chat messages
    int64_t max_new_tokens = 200;
    double temperature = 0;
    int64_t top_k = 0;
    double top_p = 1;
    int64_t seed = 0;
    bool compares = false;  ///< lets the base model answer too, first
    std::string device = "cpu";
};

/// Called with each of the engine's lines (engine/train/generate_command.h) as it comes.
using OnGenerated = std::function<void(const nlohmann::json& line)>;

/// Generates to the end. Throws Error, or Cancelled.
void generate_text(const ModelsToTry& models, const Wish& wish, const Places& places,
                   const Progress& progress, const OnGenerated& on_line);

}  // namespace ringmaster
