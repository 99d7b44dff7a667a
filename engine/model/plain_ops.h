/// Runs a decoder layer's operations with LibTorch's operations, on any device: a GPU uses them unless our
/// kernels are enabled (engine/attention/own_kernels.h), and our kernels are tested against them. Arguments
/// and results are those of engine/model/ops.h, but no argument has a default.
#pragma once

#include "engine/model/layer_norm.h"
#include "engine/model/ops.h"

namespace ringmaster::plain {

decltype(ringmaster::rms_norm) rms_norm;
decltype(ringmaster::rms_norm_again) rms_norm_again;
decltype(ringmaster::rms_norm_backward) rms_norm_backward;
decltype(ringmaster::layer_norm) layer_norm;
decltype(ringmaster::layer_norm_backward) layer_norm_backward;
decltype(ringmaster::rotate) rotate;
decltype(ringmaster::gate) gate;
decltype(ringmaster::cross_entropy) cross_entropy;
/// Replaces gate_up by its gradient. Returns f(gate) · up, computed again, in a new tensor.
at::Tensor gate_backward(at::Tensor gate_up_n2i, const at::Tensor& dact_ni, const GateRule& rule);

}  // namespace ringmaster::plain
