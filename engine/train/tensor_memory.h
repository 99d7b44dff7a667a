/// Tensor storage of this process as the allocator handed it out, counted exactly. Not seen: the program
/// itself, buffers of MKL, oneDNN and Gloo, mapped files.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace ringmaster {

struct TensorMemory {
    int64_t current_bytes = 0;
    int64_t peak_bytes = 0;  ///< since the last reset
};

/// Puts a counting allocator under every CPU tensor made from now on. Called once, before the first tensor.
void count_cpu_memory();

/// Of the device's tensors; on the CPU zero unless count_cpu_memory was called.
TensorMemory tensor_memory(at::Device device);
void reset_peak(at::Device device);

}  // namespace ringmaster
