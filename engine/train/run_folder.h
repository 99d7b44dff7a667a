/// Describes a run directory for the engine: the places of its files, and the checkpoint to resume from.
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
    /// Log-probabilities of a set of rows ("train" or "eval") under the weights that the run started with.
    std::filesystem::path reference(const std::string& set) const {
        return dir / ("reference-" + set + ".safetensors");
    }
    std::filesystem::path events() const { return dir / "events"; }
    std::filesystem::path logs() const { return dir / "logs"; }
    std::filesystem::path checkpoints() const { return dir / "checkpoints"; }
    std::filesystem::path checkpoint(int64_t step) const;  ///< checkpoints/step-00000100
};

/// Returns the checkpoint to start from, after repairing the files that a killed process left incomplete.
/// `resume` is "auto", "latest", "none" or a step; "auto" is latest unless the run is completed. Throws like
/// choose_checkpoint.
CheckpointChoice checkpoint_to_resume(const RunFolder& run, const std::string& resume, bool run_is_completed);

}  // namespace ringmaster
