/// What a launch would start, said before it does: each node's exact commands with the same under torchrun,
/// or the script that Slurm gets.
#pragma once

#include "launcher/anywhere/restart.h"

namespace ringmaster {

struct LaunchPreview {
    RunDirectory run;                 ///< that launch would make
    std::vector<NodeCommands> nodes;  ///< none of Slurm; their ranks for this machine only
    std::string torchrun;             ///< the same without agents
    RestartWish restarts;             ///< that are left to the program that follows the run
    std::string script;               ///< of Slurm
    std::string run_dir_there;        ///< of Slurm, as the job sees it
    std::vector<std::string> submit;  ///< of Slurm: what takes the script
    std::vector<NcclSetting> nccl;    ///< of Slurm, whose nodes nobody has seen
};

/// Starts and makes nothing. Throws Error(Usage) where plan and destination do not go together.
LaunchPreview preview_launch(const Reached& at, const Proposal& proposal, const RunOptions& options,
                             const Places& places);

std::string preview_text(const LaunchPreview& preview);        ///< as `launch --dry-run` prints it
nlohmann::json preview_to_json(const LaunchPreview& preview);  ///< as `launch --dry-run --json`

/// Asks Slurm whether it would take the script; nothing for other destinations. Throws Error(Unreachable)
/// with Slurm's own words.
void try_launch(Reached& at, const LaunchPreview& preview);

}  // namespace ringmaster
