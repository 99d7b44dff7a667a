/// Finds the edit that gives a file another ZeRO stage by the key that it uses for sharding states:
/// `fsdp_config`, `fsdp` or `deepspeed`.
#pragma once

#include <optional>
#include <vector>

#include "engine/config/config.h"
#include "engine/config/diagnostic.h"

namespace ringmaster {

/// Returns the edit that gives ZeRO stage 2 or 3. Returns nothing if no edit can: an accelerate file asks for
/// the sharding, or a DeepSpeed file would move optimizer states to the host.
std::optional<Edit> sharding_edit(const Config& config, int stage);

/// Returns whether the edit names a file that keeps weights in host memory too.
bool offloads_weights(const Edit& edit);

/// Returns the stages to compare: the present one, and those that an edit gives.
std::vector<int> sharding_stages(const Config& config);

}  // namespace ringmaster
