/// Computes LayerNorm (Ba et al. 2016, equation 4) and its backward by our kernels, on the CPU and on a GPU.
///
/// Letters as in ops.h. A norm's parameters are one tensor: W weights, then W biases or none.
#pragma once

#include <ATen/core/Tensor.h>

namespace ringmaster {

/// Returns (x − mean) · rstd · (offset + weight) + bias over the last dimension; x [N, W] may have strided
/// rows. Writes mean and rstd, float32 [N, 2].
at::Tensor layer_norm(const at::Tensor& x_nw, const at::Tensor& parameters_w, double eps,
                      at::Tensor& stats_n2, double offset = 0);
/// Recomputes the result of layer_norm. A GPU reads the stats; the CPU recomputes them.
at::Tensor layer_norm_again(const at::Tensor& x_nw, const at::Tensor& parameters_w, double eps,
                            const at::Tensor& stats_n2, double offset = 0);
/// Adds the gradient through the norm to dx_nw (`accumulate`), or writes it; sets gradient_w to beta ·
/// gradient_w + the parameters' gradient, unless gradient_w is undefined.
void layer_norm_backward(const at::Tensor& dy_nw, const at::Tensor& x_nw, const at::Tensor& parameters_w,
                         const at::Tensor& stats_n2, at::Tensor dx_nw, bool accumulate, at::Tensor gradient_w,
                         double beta, double offset = 0);

}  // namespace ringmaster
