/// One rank of one run, from start to exit status: meets the others, trains what the run directory's plan
/// says, and leaves its story in the run directory.
#pragma once

#include <filesystem>
#include <string>

namespace ringmaster {

struct SessionOptions {
    std::filesystem::path run_dir;
    std::string resume = "auto";  ///< auto, latest, none, or a checkpoint's step
};

/// Exit status of contracts.md: 0 completed or stopped, 1 failed, 2 unusable arguments, 3 nobody to meet or
/// no device. Rank and rendezvous come from the environment. Never throws.
int run_session(const SessionOptions& options);

}  // namespace ringmaster
