/// A run directory as the engine sees it: where its files lie, and which checkpoints are complete.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ringmaster {

struct RunFolder {
    std::filesystem::path dir;

    std::filesystem::path plan() const { return dir / "plan.json"; }
    std::filesystem::path preflight() const { return dir / "preflight.json"; }
    std::filesystem::path events() const { return dir / "events"; }
    std::filesystem::path logs() const { return dir / "logs"; }
    std::filesystem::path checkpoints() const { return dir / "checkpoints"; }
    std::filesystem::path checkpoint(int64_t step) const;  ///< checkpoints/step-00000100

    std::vector<int64_t> complete_checkpoints() const;  ///< steps, ascending
};

/// The checkpoint to start from. `resume` is "auto", "latest", "none" or a step. Empty: from scratch.
/// auto: the newest complete one, unless the run is completed. Throws Error(Usage) where the one asked for is
/// not there, naming those that are.
std::optional<int64_t> checkpoint_to_resume(const RunFolder& run, const std::string& resume,
                                            bool run_is_completed);

}  // namespace ringmaster
