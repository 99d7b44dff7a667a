/// Multiplies a state space's outputs by a gate, silu(z). Also applies an RMSNorm to equal parts of the
/// outputs, before or after the gate, if the model has one. Sums are float32, or float64 for float64 tensors.
/// Source: FalconH1RMSNormGated and Zamba2RMSNormGated in transformers 5.23.
#pragma once

#include "engine/families/state_space.h"
#include "engine/recurrence/gated_norm.h"

namespace ringmaster {

/// Returns the gated outputs. `rule.gates` multiplies the gates before silu. weight_w is undefined without a
/// norm.
at::Tensor gated_groups(const StateSpace& rule, const at::Tensor& x_nw, const at::Tensor& gate_nw,
                        const at::Tensor& weight_w, double eps);
/// Returns the gradients; the weight's gradient is undefined without a norm.
GatedNormGradients gated_groups_backward(const StateSpace& rule, const at::Tensor& dy_nw,
                                         const at::Tensor& x_nw, const at::Tensor& gate_nw,
                                         const at::Tensor& weight_w, double eps);

}  // namespace ringmaster
