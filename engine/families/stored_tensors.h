/// Lists the tensors of a model's files.
#pragma once

#include <string>
#include <vector>

#include "engine/families/model_config.h"

namespace ringmaster {

/// One tensor in the files, which holds a parameter or a part of one.
struct StoredTensor {
    std::string name;
    std::vector<int64_t> shape;
    size_t parameter = 0;  ///< index into the parameters
    size_t parts = 1;      ///< number of tensors among which the parameter is divided
    size_t part = 0;       ///< index of this part
};

std::vector<StoredTensor> stored_tensors(const std::vector<ParameterShape>& shapes);

}  // namespace ringmaster
