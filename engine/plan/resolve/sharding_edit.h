/// Finds the edit that changes a file's ZeRO stage, by the key with which the file shards states:
/// `fsdp_config`, `fsdp` or `deepspeed`.
#pragma once

#include <optional>
#include <vector>

#include "engine/config/config.h"
#include "engine/config/diagnostic.h"

namespace ringmaster {

/// Returns the edit that sets ZeRO stage 2 or 3. Returns nothing if no edit can: an accelerate file sets the
/// sharding, or a DeepSpeed file would move optimizer states to the host.
std::optional<Edit> sharding_edit(const Config& config, int stage);

/// Returns whether the edit names a file that keeps weights in host memory too.
bool offloads_weights(const Edit& edit);

/// Returns the stages to compare: the current stage, and the stages that an edit can set.
std::vector<int> sharding_stages(const Config& config);

}  // namespace ringmaster
