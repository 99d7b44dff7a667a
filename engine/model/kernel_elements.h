/// Maps tensors to the element types of our kernels (engine/kernels), on CPU and GPU.
#pragma once

#include <ATen/core/Tensor.h>

#include "engine/kernels/fused.h"

namespace ringmaster {

template <typename T>
T* pointer(const at::Tensor& tensor) {
    return static_cast<T*>(tensor.data_ptr());
}

/// Calls `body(T{})` with the kernels' element type, which is Bf16, Fp16 or float.
template <typename Body>
void with_element(const at::Tensor& tensor, const Body& body) {
    if (tensor.scalar_type() == at::kBFloat16) {
        body(Bf16{});
    } else if (tensor.scalar_type() == at::kHalf) {
        body(Fp16{});
    } else {
        TORCH_INTERNAL_ASSERT(tensor.scalar_type() == at::kFloat);
        body(float{});
    }
}

/// Returns the biases that follow a norm's weights in its parameters; null if there are none.
template <typename T>
T* norm_biases(const at::Tensor& parameters_w, int64_t width) {
    return parameters_w.size(0) > width ? pointer<T>(parameters_w) + width : nullptr;
}

}  // namespace ringmaster
