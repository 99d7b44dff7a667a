/// Implements AdamW's update of weights and moments (kept as numbers), on any device.
#pragma once

#include <ATen/core/Tensor.h>

#include "engine/kernels/block_optimizer.h"

namespace ringmaster {

/// Updates all tensors in place; moments are float32.
void update_moments(const AdamWNumbers& with, const at::Tensor& weights, const at::Tensor& gradients,
                    at::Tensor& exp_avg, at::Tensor& exp_avg_sq);

/// Updates elements from `begin` on of weights and gradients in CPU memory.
void update_on_cpu(const BlockOptimizer& kernels, const AdamWNumbers& with, const at::Tensor& weights,
                   const at::Tensor& gradients, int64_t begin, float* exp_avg, float* exp_avg_sq,
                   int64_t count);

}  // namespace ringmaster
