/// Returns PEFT's names for a model's modules.
#pragma once

#include <string>

#include "engine/families/model_config.h"

namespace ringmaster {

/// Returns the name that PEFT sees in transformers' model: the name in the file, which for a wrapper's text
/// part is below model.language_model.
std::string peft_name(const ModelConfig& model, const ParameterShape& shape);
/// Returns the path of the module that holds the embedding or the head.
std::string peft_table(const ModelConfig& model, Role role);

}  // namespace ringmaster
