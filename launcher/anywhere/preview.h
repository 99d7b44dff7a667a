/// Shows what a launch would start: each node's exact commands and their equivalent under torchrun, or the
/// script for Slurm.
#pragma once

#include "launcher/anywhere/restart.h"

namespace ringmaster {

struct LaunchPreview {
    RunDirectory run;                 ///< directory that the launch would make
    std::vector<NodeCommands> nodes;  ///< empty for Slurm; ranks are listed for this machine only
    std::string torchrun;             ///< equivalent command without agents
    RestartWish restarts;             ///< restarts left to the program that follows the run
    std::string script;               ///< script for Slurm
    std::string run_dir_there;        ///< run directory as the Slurm job sees it
    std::vector<std::string> submit;  ///< command that submits the script to Slurm
    std::vector<NcclSetting> nccl;    ///< settings for Slurm, whose nodes are not known yet
};

/// Starts and makes nothing. Throws Error(Usage) if plan and destination do not match.
LaunchPreview preview_launch(const Reached& at, const Proposal& proposal, const RunOptions& options,
                             const Places& places);

std::string preview_text(const LaunchPreview& preview);        ///< output of `launch --dry-run`
nlohmann::json preview_to_json(const LaunchPreview& preview);  ///< output of `launch --dry-run --json`

/// Asks Slurm if it would accept the script; does nothing for other destinations. Throws Error(Unreachable)
/// with Slurm's message.
void try_launch(Reached& at, const LaunchPreview& preview);

}  // namespace ringmaster
