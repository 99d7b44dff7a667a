/// Writes into config.json that a model gives scores.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "engine/families/model_config.h"

namespace ringmaster {

/// Writes the class and the labels of a model with `num_labels` into `config`, as transformers does.
void describe_scores(const ModelConfig& model, nlohmann::ordered_json& config);

}  // namespace ringmaster
