/// Makes a number for operations in place. LibTorch's `tensor.mul_(0.9)` first rounds 0.9 to the tensor's
/// dtype, unlike Python's; a float64 tensor keeps it exact, on any device.
#pragma once

#include <ATen/ATen.h>

namespace ringmaster {

inline at::Tensor number(double value) {
    return at::scalar_tensor(value, at::TensorOptions().dtype(at::kDouble));
}

}  // namespace ringmaster
