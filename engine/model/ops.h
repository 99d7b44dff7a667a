/// A decoder layer's operations on tensors, forward beside backward, without autograd: fused kernels on the
/// CPU; on a GPU plain LibTorch operations, or our kernels where they are switched on
/// (engine/attention/own_kernels.h).
///
/// Letters: N rows (tokens), W width, I intermediate, V vocabulary, O and C outputs and inputs of a matrix.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

#include "engine/activation.h"

namespace ringmaster {

/// a_nk · b_km, any strides.
at::Tensor product(const at::Tensor& a_nk, const at::Tensor& b_km);
at::Tensor product_out(at::Tensor out_nm, const at::Tensor& a_nk, const at::Tensor& b_km);

/// out_nm += a_nk · b_km; out's rows may be strided.
void add_product(at::Tensor out_nm, const at::Tensor& a_nk, const at::Tensor& b_km);

/// x_nc · weight_ocᵀ (+ bias_o).
at::Tensor linear(const at::Tensor& x_nc, const at::Tensor& weight_oc, const at::Tensor& bias_o);

/// gradient_oc ← beta · gradient_oc + dy_noᵀ · x_nc. With beta 0 the old content is not read. gradient may be
/// float32 where dy and x are bfloat16. Nothing where it is undefined: a frozen weight.
void accumulate_weight_gradient(at::Tensor gradient_oc, const at::Tensor& dy_no, const at::Tensor& x_nc,
                                double beta);
/// gradient_o ← beta · gradient_o + Σ_n dy_no; nothing where gradient is undefined.
void accumulate_bias_gradient(at::Tensor gradient_o, const at::Tensor& dy_no, double beta);

/// y = x · rstd · (offset + weight) over the last dim; x [N, W] (rows may be strided). Writes rstd float32
/// [N].
at::Tensor rms_norm(const at::Tensor& x_nw, const at::Tensor& weight_w, double eps, at::Tensor& rstd_n,
                    double offset = 0);
/// The same again from a kept rstd.
at::Tensor rms_norm_again(const at::Tensor& x_nw, const at::Tensor& weight_w, const at::Tensor& rstd_n,
                          double offset = 0);
/// dx_nw += gradient through the norm (`accumulate`), or = it; gradient_w ← beta · gradient_w + its own,
/// unless it is undefined.
void rms_norm_backward(const at::Tensor& dy_nw, const at::Tensor& x_nw, const at::Tensor& weight_w,
                       const at::Tensor& rstd_n, at::Tensor dx_nw, bool accumulate, at::Tensor gradient_w,
                       double beta, double offset = 0);

/// Rotates, in place, the first `heads` heads of every row of qkv_nw; row n has the position of line n mod T
/// of the tables [T, pairs]: 2 · pairs numbers of a head turn, the rest stays. Pairs are (0, pairs),
/// (1, pairs + 1), …, or `interleaved` (0, 1), (2, 3), …. `backward` applies the transpose.
void rotate(at::Tensor qkv_nw, const at::Tensor& cos_td, const at::Tensor& sin_td, int64_t heads,
            int64_t head_dim, bool backward, bool interleaved = false);

/// f(gate) · up of gate_up [N, 2I], or f of [N, I].
at::Tensor gate(const at::Tensor& gate_up_n2i, const GateRule& rule = {});
/// Turns gate_up into its gradient in place and returns the forward's product again.
at::Tensor gate_backward(at::Tensor gate_up_n2i, const at::Tensor& dact_ni, const GateRule& rule = {});

/// Each row's cross-entropy, float32 [N]; where `scale` is given, logits become (softmax − onehot) · scale
/// in place.
at::Tensor cross_entropy(at::Tensor logits_nv, const at::Tensor& labels_n, std::optional<double> scale);

/// gradient_vw[ids_n] += dx_nw, rows in order.
void accumulate_embedding_gradient(at::Tensor gradient_vw, const at::Tensor& ids_n, const at::Tensor& dx_nw);

}  // namespace ringmaster
