/// Reads the details of a run that the user has selected: its configuration, checkpoints and files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "launcher/history/run_table.h"
#include "launcher/run/run_directory.h"

namespace ringmaster {

struct CheckpointInfo {
    int64_t step = 0;
    std::filesystem::path dir;
    int64_t bytes = 0;
    double saved = 0;  ///< Unix seconds
};

struct ListedFile {
    std::string name;  ///< name in the run directory; folders end with a slash
    int64_t bytes = 0;
    double changed = 0;
};

struct RunDetails {
    RunRow row;
    std::string config_text;                  ///< empty if it cannot be read
    std::vector<CheckpointInfo> checkpoints;  ///< complete checkpoints, ascending by step
    std::vector<ListedFile> files;
    std::filesystem::path model_dir;  ///< folder of the trained model or adapter; empty: none yet
};

/// Reads the details. Never throws for a problem of the run.
RunDetails read_details(const RunDirectory& run);

/// Returns the folder of the model or adapter that a run wrote. Throws Error(Refused) with the code if there
/// is none on this machine.
std::filesystem::path written_model(const RunDirectory& run, const char* code);

/// Returns the bytes of the regular files in `dir`. Does not follow links; counts at most `most_files`.
int64_t bytes_within(const std::filesystem::path& dir, int most_files = 100'000);

/// Returns options.json as an object, which is empty if the file holds no object. Throws Error if it cannot
/// be read.
nlohmann::json recorded_options(const RunDirectory& run);
/// Returns the settings of --set and of the form in options.json; skips damaged ones.
std::vector<std::pair<std::string, std::string>> recorded_settings(const nlohmann::json& options);

/// A copy of the run's configuration to plan again, with the folder that its relative paths start from. The
/// settings of --set are written into the text. duplicate_of throws Error.
struct Duplicate {
    std::string text;
    std::string base_dir;
};
Duplicate duplicate_of(const RunDirectory& run);

}  // namespace ringmaster
