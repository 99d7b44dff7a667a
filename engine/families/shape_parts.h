/// Declares the code shared by the list of a model's parameters and that of an adapter's.
#pragma once

#include <vector>

#include "engine/families/model_config.h"

namespace ringmaster {

/// Returns the model's embedding or head (`role`), with its name in files; also returns a tied head.
ParameterShape table_of(const ModelConfig& model, Role role);

/// Adds up the elements of the parameters: the embedding's unit, the layers, and all others.
UnitSizes sizes_of(const std::vector<ParameterShape>& shapes);

/// Returns the model without its layers.
ModelConfig without_layers(const ModelConfig& model);

}  // namespace ringmaster
