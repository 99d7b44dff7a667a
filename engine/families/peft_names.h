/// Gives the names under which PEFT knows a model's modules.
#pragma once

#include <string>

#include "engine/families/model_config.h"

namespace ringmaster {

/// A parameter's name as PEFT sees it in transformers' model: that of its file, for a wrapper's text part
/// below model.language_model.
std::string peft_name(const ModelConfig& model, const ParameterShape& shape);

}  // namespace ringmaster
