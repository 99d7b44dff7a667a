/// Names the features of a ModelConfig that the engine does not compute yet.
#pragma once

#include <string>
#include <vector>

#include "engine/families/model_config.h"

namespace ringmaster {

/// Names of config.json's fields, or a few words if no field stands for it; empty: all is computed.
std::vector<std::string> not_computed(const ModelConfig& model);

}  // namespace ringmaster
