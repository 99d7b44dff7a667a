/// Judges whether the engine's CUDA kernels can run on a GPU, by the architectures that the build compiles
/// them for. Such GPUs also compute bfloat16 in hardware; older ones do not.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/config/diagnostic.h"
#include "launcher/machine/machine.h"

namespace ringmaster {

/// Returns the lowest compute capability of the GPUs that the kernels run on, such as "8.0".
std::string least_capability();

/// Returns whether the kernels cannot run on a GPU of this compute capability. An unknown capability does not
/// count as too old.
bool is_too_old(const std::string& capability);

/// Returns the finding about the first of the first `count` GPUs that is too old; nullopt if none is.
std::optional<Diagnostic> old_gpu_finding(const std::vector<Gpu>& gpus, size_t count, Severity severity);

}  // namespace ringmaster
