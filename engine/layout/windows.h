/// Finds the window of a model whose layers may have different ones.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/families/model_config.h"

namespace ringmaster {

/// Returns the widest window of all layers; none if some layer sees everything.
std::optional<int64_t> widest_window(const ModelConfig& model);

}  // namespace ringmaster
