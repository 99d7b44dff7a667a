/// Limits a model's sizes, so that every later product fits in 64 bits.
#pragma once

#include <string>

#include "engine/families/model_config.h"

namespace ringmaster {

constexpr int64_t kMostLayers = 10'000;

/// Throws Error(Refused) if the model has more than 10^15 parameters.
void refuse_absurd_size(const ModelConfig& model, const std::string& where);

}  // namespace ringmaster
