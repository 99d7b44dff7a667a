/// Counts the tensor memory of this process exactly, at the allocator. Does not include the program, buffers
/// of MKL, oneDNN and Gloo, or mapped files.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace ringmaster {

struct TensorMemory {
    int64_t current_bytes = 0;
    int64_t peak_bytes = 0;  ///< peak since the last reset
};

/// From now on, allocates every CPU tensor with a counting allocator. Call once, before the first tensor.
void count_cpu_memory();

/// Returns the memory of the device's tensors; zero on the CPU unless count_cpu_memory was called.
TensorMemory tensor_memory(at::Device device);
void reset_peak(at::Device device);

}  // namespace ringmaster
