/// Makes element-wise arithmetic independent of where a slice begins. On the CPU, LibTorch rounds the last
/// bfloat16 elements of each thread's part differently if they do not fill a vector.
#pragma once

#include <ATen/ATen.h>

#include <algorithm>

namespace ringmaster {

/// The most elements that a single thread computes (TensorIterator's grain), and the most elements that a
/// loop computes with vectors at once.
constexpr int64_t kOneThread = 32768, kVectors = 128;

inline bool needs_whole_vectors(const at::Tensor& values) {
    return values.is_cpu() && values.scalar_type() == at::kBFloat16;
}

/// Returns the values, padded with zeros to whole vectors if needed.
inline at::Tensor in_whole_vectors(const at::Tensor& values) {
    const int64_t missing = (kVectors - values.size(0) % kVectors) % kVectors;
    if (!needs_whole_vectors(values) || missing == 0) return values;
    return at::constant_pad_nd(values, {0, missing});
}

}  // namespace ringmaster
