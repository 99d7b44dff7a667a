/// Runs a decoder layer's operations with our CUDA kernels (engine/kernels/row_kernels.h), launched by `run`.
/// Arguments and results are those of engine/model/ops.h and layer_norm.h.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "engine/attention/own_kernels.h"

namespace ringmaster::own {

at::Tensor rms_norm(const RunRows& run, const at::Tensor& x_nw, const at::Tensor& weight_w, double eps,
                    at::Tensor& rstd_n, double offset = 0);
at::Tensor layer_norm(const RunRows& run, const at::Tensor& x_nw, const at::Tensor& parameters_w, double eps,
                      at::Tensor& stats_n2, double offset = 0);
/// These two functions serve RMSNorm, with stats [N], and LayerNorm, with stats [N, 2].
at::Tensor norm_again(const RunRows& run, const at::Tensor& x_nw, const at::Tensor& parameters_w,
                      const at::Tensor& stats, double offset = 0);
void norm_backward(const RunRows& run, const at::Tensor& dy_nw, const at::Tensor& x_nw,
                   const at::Tensor& parameters_w, const at::Tensor& stats, at::Tensor dx_nw, bool accumulate,
                   at::Tensor gradient_w, double beta, double offset = 0);
void rotate(const RunRows& run, at::Tensor qkv_nw, const at::Tensor& cos_td, const at::Tensor& sin_td,
            int64_t heads, int64_t head_dim, bool backward, bool interleaved = false);
at::Tensor gate(const RunRows& run, const at::Tensor& gate_up_n2i, const GateRule& rule = {});
at::Tensor gate_backward(const RunRows& run, at::Tensor gate_up_n2i, const at::Tensor& dact_ni,
                         const GateRule& rule = {}, at::Tensor act_ni = {});
at::Tensor cross_entropy(const RunRows& run, at::Tensor logits_nv, const at::Tensor& labels_n,
                         std::optional<double> scale);

}  // namespace ringmaster::own
