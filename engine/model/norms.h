/// Computes the norm that a model's configuration describes: RMSNorm or LayerNorm, with weights w or 1 + w.
/// `stats` are float32 [N] or [N, 2]; a norm's biases follow its weights in the same tensor.
#pragma once

#include <ATen/core/Tensor.h>

#include "engine/families/model_config.h"

namespace ringmaster {

/// Returns the normalised rows of x_nw and writes the stats, which the other functions read.
at::Tensor norm_of(const ModelConfig& model, const at::Tensor& x_nw, const at::Tensor& parameters_w,
                   at::Tensor& stats, double eps);
at::Tensor norm_again_of(const ModelConfig& model, const at::Tensor& x_nw, const at::Tensor& parameters_w,
                         const at::Tensor& stats, double eps);
/// See rms_norm_backward in engine/model/ops.h.
void norm_backward_of(const ModelConfig& model, const at::Tensor& dy_nw, const at::Tensor& x_nw,
                      const at::Tensor& parameters_w, const at::Tensor& stats, const at::Tensor& dx_nw,
                      bool accumulate, const at::Tensor& gradient_w, double beta);

}  // namespace ringmaster
