/// Names the features of a ModelConfig that the engine does not compute yet.
#pragma once

#include <string>
#include <vector>

#include "engine/families/model_config.h"

namespace ringmaster {

/// Returns names of config.json's fields, or a few words if a feature has no field; empty if the engine
/// computes all features.
std::vector<std::string> not_computed(const ModelConfig& model);

}  // namespace ringmaster
