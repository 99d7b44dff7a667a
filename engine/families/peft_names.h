/// Gives PEFT's names for a model's modules.
#pragma once

#include <string>
#include <string_view>

#include "engine/families/model_config.h"

namespace ringmaster {

/// Returns the name that PEFT sees in transformers 5: the name in the file, which for a wrapper's text part
/// is below model.language_model. Heads are called lm_head, regardless of their name in the file.
std::string peft_name(const ModelConfig& model, const ParameterShape& shape);
/// Returns the path of the module that holds the embedding or the head.
std::string peft_table(const ModelConfig& model, Role role);
/// Returns the path, within its layer, of a parameter of kExpertParameters; `parameter` itself if the model
/// lacks it.
std::string peft_parameter(const ModelConfig& model, const std::string& parameter);
/// Returns whether PEFT adapts parameters of a mixture's experts or its router for this target, because
/// modules of transformers 4 had the name (Family::expert_targets).
bool is_expert_target(const ModelConfig& model, std::string_view name);
/// Returns whether any target of the model is one that PEFT moves to parameters of a mixture's experts.
bool renames_expert_targets(const ModelConfig& model);
/// Returns whether PEFT 0.21 refuses to adapt the module, even as one of all linear modules
/// (peft.tuners.tuners_utils._check_lora_target_modules_mamba).
bool peft_refuses(const ModelConfig& model, std::string_view module);
/// Returns the path of the head's module in the files of a model or adapter.
std::string head_in_files(const ModelConfig& model);

}  // namespace ringmaster
