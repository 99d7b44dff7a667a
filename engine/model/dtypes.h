/// Names the dtypes of weights, in a run, in safetensors files and in a config.json.
#pragma once

#include <c10/core/ScalarType.h>

#include "engine/config/precision.h"

namespace ringmaster {

/// Returns the dtype in which a run of this precision computes.
inline at::ScalarType compute_dtype_of(Precision precision) {
    return precision == kFp16Mixed ? at::kHalf : precision == Precision::Float32 ? at::kFloat : at::kBFloat16;
}

/// Returns the name in a safetensors file, such as "BF16".
inline const char* stored_name_of(at::ScalarType dtype) {
    return dtype == at::kBFloat16 ? "BF16"
           : dtype == at::kHalf   ? "F16"
           : dtype == at::kDouble ? "F64"
                                  : "F32";
}

/// Returns the name in a config.json, such as "bfloat16".
inline const char* config_name_of(at::ScalarType dtype) {
    return dtype == at::kBFloat16 ? "bfloat16" : dtype == at::kHalf ? "float16" : "float32";
}

}  // namespace ringmaster
