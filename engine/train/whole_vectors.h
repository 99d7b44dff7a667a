/// Element-wise arithmetic that does not depend on where a slice begins. On the CPU, LibTorch rounds bfloat16
/// elements that fill no vector otherwise than the others, and each thread's part ends in such elements.
#pragma once

#include <ATen/ATen.h>

#include <algorithm>

namespace ringmaster {

/// Elements that one thread computes by itself (TensorIterator's grain), and the longest vectors in a loop.
constexpr int64_t kOneThread = 32768, kVectors = 128;

inline bool needs_whole_vectors(const at::Tensor& values) {
    return values.is_cpu() && values.scalar_type() == at::kBFloat16;
}

/// Returns the values with zeros behind them up to whole vectors, if they need that.
inline at::Tensor in_whole_vectors(const at::Tensor& values) {
    const int64_t missing = (kVectors - values.size(0) % kVectors) % kVectors;
    if (!needs_whole_vectors(values) || missing == 0) return values;
    return at::constant_pad_nd(values, {0, missing});
}

}  // namespace ringmaster
