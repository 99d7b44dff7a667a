/// A model's parameters as its files hold them.
#pragma once

#include <string>
#include <vector>

#include "engine/families/model_config.h"

namespace ringmaster {

/// One tensor of the files, and the parameters that it holds, one below the other.
struct StoredTensor {
    std::string name;
    std::vector<int64_t> shape;
    std::vector<size_t> parameters;  ///< indices
};

std::vector<StoredTensor> stored_tensors(const std::vector<ParameterShape>& shapes);

}  // namespace ringmaster
