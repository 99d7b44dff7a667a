/// Normalizes each head and multiplies it by a gate: y = w · x / rms(x) · silu(z), as Qwen3NextRMSNormGated
/// does in transformers 5.23. Sums are float32, or float64 for float64 tensors.
#pragma once

#include <ATen/core/Tensor.h>

namespace ringmaster {

at::Tensor gated_norm(const at::Tensor& x_nhv, const at::Tensor& gate_nhv, const at::Tensor& weight_v,
                      double eps);

struct GatedNormGradients {
    at::Tensor dx_nhv, dgate_nhv, dweight_v;
};
GatedNormGradients gated_norm_backward(const at::Tensor& dy_nhv, const at::Tensor& x_nhv,
                                       const at::Tensor& gate_nhv, const at::Tensor& weight_v, double eps);

/// Returns float32, or float64 for float64.
at::ScalarType sum_type(const at::Tensor& x);

}  // namespace ringmaster
