/// Makes a float64 tensor of a number, for operations in place. In C++, `tensor.mul_(0.9)` rounds 0.9 to the
/// tensor's dtype first, which PyTorch's Python API does not; a float64 tensor keeps it exact, on any device.
#pragma once

#include <ATen/ATen.h>

namespace ringmaster {

inline at::Tensor number(double value) {
    return at::scalar_tensor(value, at::TensorOptions().dtype(at::kDouble));
}

}  // namespace ringmaster
