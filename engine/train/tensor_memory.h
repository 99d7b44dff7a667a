/// Counts the tensor memory of this process exactly, as the allocator hands it out. Does not include the
/// program, buffers of MKL, oneDNN and Gloo, or mapped files.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace ringmaster {

struct TensorMemory {
    int64_t current_bytes = 0;
    int64_t peak_bytes = 0;  ///< peak since the last reset
};

/// Puts a counting allocator under every CPU tensor made from now on. Call once, before the first tensor.
void count_cpu_memory();

/// Returns the memory of the device's tensors; zero on the CPU unless count_cpu_memory was called.
TensorMemory tensor_memory(at::Device device);
void reset_peak(at::Device device);

}  // namespace ringmaster
