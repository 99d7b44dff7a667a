/// Runs one rank of a run, from start to exit status. The rank meets the other ranks, trains by the run
/// directory's plan, and records events and logs in the run directory.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace ringmaster {

struct SessionOptions {
    std::filesystem::path run_dir;
    std::string resume = "auto";  ///< auto, latest, none, or a checkpoint's step
    /// If true, forward products with 8-bit weights quantise their inputs; if unset, the device decides.
    std::optional<bool> quantizes_inputs = {};
};

/// Returns the program's exit status: 0 completed or stopped, 1 failed, 2 unusable arguments, 3 no other rank
/// reachable or no device. Rank and rendezvous come from the environment. Never throws.
int run_session(const SessionOptions& options);

}  // namespace ringmaster
