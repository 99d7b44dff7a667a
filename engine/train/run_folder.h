/// A run directory as the engine sees it: where its files lie, and which checkpoint it goes on from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "engine/files/checkpoints.h"

namespace ringmaster {

struct RunFolder {
    std::filesystem::path dir;

    std::filesystem::path plan() const { return dir / "plan.json"; }
    std::filesystem::path preflight() const { return dir / "preflight.json"; }
    std::filesystem::path events() const { return dir / "events"; }
    std::filesystem::path logs() const { return dir / "logs"; }
    std::filesystem::path checkpoints() const { return dir / "checkpoints"; }
    std::filesystem::path checkpoint(int64_t step) const;  ///< checkpoints/step-00000100
};

/// The checkpoint to start from, after what a killed process left there was put right. `resume` is "auto",
/// "latest", "none" or a step; auto is latest, unless the run is completed. Throws as choose_checkpoint.
CheckpointChoice checkpoint_to_resume(const RunFolder& run, const std::string& resume, bool run_is_completed);

}  // namespace ringmaster
