/// What is looked at of one run when it is chosen: its configuration, checkpoints and files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "launcher/run_directory.h"
#include "launcher/run_table.h"

namespace ringmaster {

struct CheckpointInfo {
    int64_t step = 0;
    std::filesystem::path dir;
    int64_t bytes = 0;
    double saved = 0;  ///< Unix seconds
};

struct RunFile {
    std::string name;  ///< in the run directory; a folder's ends with a slash
    int64_t bytes = 0;
    double changed = 0;
};

struct RunDetails {
    RunRow row;
    std::string config_text;                  ///< empty where it cannot be read
    std::vector<CheckpointInfo> checkpoints;  ///< complete ones, by step
    std::vector<RunFile> files;
    std::filesystem::path model_dir;  ///< where the trained model, or adapter, lies; empty: there is none yet
};

/// Never throws for what is wrong with the run.
RunDetails read_details(const RunDirectory& run);

/// Bytes of the regular files in it; links are not followed, at most `most_files` are counted.
int64_t bytes_within(const std::filesystem::path& dir, int most_files = 100'000);

/// The run's configuration with the folder that its relative paths start from, as something to plan anew:
/// what --set changed is written into it. Throws Error.
struct Duplicate {
    std::string text;
    std::string base_dir;
};
Duplicate duplicate_of(const RunDirectory& run);

}  // namespace ringmaster
