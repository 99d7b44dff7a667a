/// Runs a decoder layer's operations with LibTorch's own, on any device: a GPU uses them unless our kernels
/// are enabled (engine/attention/own_kernels.h), and our kernels are tested against them. Arguments and
/// results are those of engine/model/ops.h.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "engine/activation.h"

namespace ringmaster::plain {

at::Tensor rms_norm(const at::Tensor& x_nw, const at::Tensor& weight_w, double eps, at::Tensor& rstd_n,
                    double offset = 0);
at::Tensor rms_norm_again(const at::Tensor& x_nw, const at::Tensor& weight_w, const at::Tensor& rstd_n,
                          double offset = 0);
void rms_norm_backward(const at::Tensor& dy_nw, const at::Tensor& x_nw, const at::Tensor& weight_w,
                       const at::Tensor& rstd_n, at::Tensor dx_nw, bool accumulate, at::Tensor gradient_w,
                       double beta, double offset = 0);
void rotate(at::Tensor qkv_nw, const at::Tensor& cos_td, const at::Tensor& sin_td, int64_t heads,
            int64_t head_dim, bool backward, bool interleaved = false);
at::Tensor gate(const at::Tensor& gate_up_n2i, const GateRule& rule = {});
at::Tensor gate_backward(at::Tensor gate_up_n2i, const at::Tensor& dact_ni, const GateRule& rule = {});
at::Tensor cross_entropy(at::Tensor logits_nv, const at::Tensor& labels_n, std::optional<double> scale);

}  // namespace ringmaster::plain
