/// Writes a trained model in the form that the base model's class reads.
#pragma once

#include <string>
#include <vector>

#include "engine/model/parameters.h"

namespace ringmaster {

/// Writes a whole model as save_weights does, with the base model's tensor names. The base's tensors that
/// hold no parameter, such as vision towers and heads that predict later tokens, are copied byte for byte.
std::vector<WrittenFile> save_model(Parameters& parameters, const std::string& dir, at::ScalarType dtype,
                                    const std::string& base_dir);

}  // namespace ringmaster
