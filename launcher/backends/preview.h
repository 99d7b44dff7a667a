/// Shows what a launch would start: each node's exact commands and their equivalent under torchrun, or the
/// script for Slurm.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "launcher/backends/backend.h"

namespace ringmaster {

struct LaunchPreview {
    RunDirectory run;                 ///< directory that the launch would make
    std::vector<NodeCommands> nodes;  ///< empty for Slurm; ranks are listed for this machine only
    std::string torchrun;             ///< equivalent command without agents
    RestartLimits restarts;           ///< restarts left to the program that follows the run
    std::string script;               ///< script for Slurm
    std::string run_dir_there;        ///< run directory as the Slurm job sees it
    std::vector<std::string> submit;  ///< command that submits the script to Slurm
    std::vector<NcclSetting> nccl;    ///< settings for Slurm, whose nodes are not known yet
};

/// Translates an English string of the program into the app's language.
using Translate = std::function<std::string(const char* english)>;

/// Returns the output of `launch --dry-run`; in English unless `translate` is given.
std::string preview_text(const LaunchPreview& preview, const Translate& translate = {});
nlohmann::json preview_to_json(const LaunchPreview& preview);  ///< output of `launch --dry-run --json`

}  // namespace ringmaster
