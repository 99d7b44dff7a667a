/// Groups a model's parameters by the tensors that hold them in its files.
#pragma once

#include <string>
#include <vector>

#include "engine/families/model_config.h"

namespace ringmaster {

/// One tensor in the files, and the parameters that it holds, one below the other; or a part of one.
struct StoredTensor {
    std::string name;
    std::vector<int64_t> shape;
    std::vector<size_t> parameters;  ///< indices into the parameters
    size_t parts = 1;                ///< above 1: the tensor holds only one part of its single parameter
    size_t part = 0;                 ///< index of this part
};

std::vector<StoredTensor> stored_tensors(const std::vector<ParameterShape>& shapes);

}  // namespace ringmaster
