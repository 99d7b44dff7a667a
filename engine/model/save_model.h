/// Writes a trained model as its base's own class reads it.
#pragma once

#include <string>
#include <vector>

#include "engine/model/parameters.h"

namespace ringmaster {

/// Does the same as save_weights for a whole model, with the base's names of tensors, and copies byte for
/// byte those of the base that hold no parameter, such as vision towers and heads for later tokens.
std::vector<WrittenFile> save_model(Parameters& parameters, const std::string& dir, at::ScalarType dtype,
                                    const std::string& base_dir);

}  // namespace ringmaster
