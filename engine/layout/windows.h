/// Finds the window of a model whose layers may have different ones.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/families/model_config.h"

namespace ringmaster {

/// Returns the widest window of all layers; nothing if some layer has no window.
std::optional<int64_t> widest_window(const ModelConfig& model);

}  // namespace ringmaster
