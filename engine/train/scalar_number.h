/// A number for operations in place. `tensor.mul_(0.9)` of LibTorch first rounds 0.9 to the tensor's dtype,
/// which Python's does not do; a tensor of float64 keeps it exact, on any device.
#pragma once

#include <ATen/ATen.h>

namespace ringmaster {

inline at::Tensor number(double value) {
    return at::scalar_tensor(value, at::TensorOptions().dtype(at::kDouble));
}

}  // namespace ringmaster
