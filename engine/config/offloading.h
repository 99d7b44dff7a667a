/// Determines which states a configuration keeps in host memory or on a disk.
#pragma once

#include <cstdint>

#include "engine/config/config.h"
#include "engine/config/optimizers.h"

namespace ringmaster {

/// Returns true if gradients and the values that the optimizer updates are kept in host memory too, so that
/// the CPU updates them. A paged optimizer keeps only the optimizer's states in host memory, and the device
/// computes the update.
inline bool states_in_host(const Config& config) {
    const OptimizerKind* kind = find_optimizer(config.optimizer);
    const bool is_paged = kind != nullptr && kind->paged;
    return config.parameter_offloading || (config.optimizer_offloading && !is_paged);
}

/// States on a disk are read and written in pieces of this many numbers. Four pieces of each state are in
/// memory: the current one, the next two, and one that is being written.
constexpr int64_t kDiskStretch = int64_t{4} << 20, kDiskStretches = 4;

/// Returns true if the optimizer's states are kept on a disk, as DeepSpeed's `device: nvme` asks. States in
/// 8-bit or 4-bit codes, and those of optimizers that need whole matrices, are kept in host memory instead.
inline bool states_on_disk(const Config& config) {
    const OptimizerKind* kind = find_optimizer(config.optimizer);
    return !config.optimizer_disk.empty() && kind != nullptr && !kind->needs_matrices() &&
           (kind->states == StateKind::AsWeights || kind->states == StateKind::Float32);
}

}  // namespace ringmaster
