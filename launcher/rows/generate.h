/// Lets the engine generate text with the model of a folder, an adapter's folder or a run.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/config/config.h"
#include "launcher/base/places.h"
#include "launcher/base/progress.h"
#include "launcher/run/run_directory.h"

namespace ringmaster {

struct NamedModel {
    std::string name;  ///< "trained" or "base"
    Config config;     ///< configuration that names the folders of weights and adapter
};

struct ModelsToTry {
    NamedModel trained, base;
    std::filesystem::path tokenizer;  ///< a folder with a tokenizer.json
};

/// Returns the configuration that would continue training from an adapter's folder. The base model is `base`,
/// or the one that the folder names. Throws Error with `code`.
Config config_of_adapter(const std::filesystem::path& folder, const std::string& base, const char* code);
/// Returns the run's configuration with its base model, quantized as in the run, and the adapter in
/// output_dir. Throws Error with `code` if there is no adapter yet.
Config config_of_trained_adapter(const RunDirectory& run, const char* code);

/// Finds the models of a folder; `base` is passed to config_of_adapter. Throws Error.
ModelsToTry models_of_folder(const std::filesystem::path& folder, const std::string& base);
/// Finds the models of a run that has written its result. Throws Error.
ModelsToTry models_of_run(const RunDirectory& run);

struct GenerateOptions {
    std::vector<nlohmann::json> prompts;  ///< texts, or lists of chat messages
    int64_t max_new_tokens = 200;
    double temperature = 0;
    int64_t top_k = 0;
    double top_p = 1;
    int64_t seed = 0;
    bool compares = false;  ///< true: the base model answers too, first
    std::string device = "cpu";
};

/// Called with each of the engine's lines (engine/commands/generate_command.h) as soon as it arrives.
using OnGenerated = std::function<void(const nlohmann::json& line)>;

/// Generates all texts, and returns when the last one is complete. Throws Error or Cancelled.
void generate_text(const ModelsToTry& models, const GenerateOptions& options, const Places& places,
                   const Progress& progress, const OnGenerated& on_line);

}  // namespace ringmaster
