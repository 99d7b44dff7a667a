/// Implements a decoder layer's operations, forward and backward, without autograd: fused kernels on the
/// CPU; on a GPU plain LibTorch operations, or our kernels if they are enabled
/// (engine/attention/own_kernels.h).
///
/// Letters: N rows (tokens), W width, I intermediate, V vocabulary, O and C outputs and inputs of a matrix.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

#include "engine/activation.h"

namespace ringmaster {

/// Returns a_nk · b_km, for any strides.
at::Tensor product(const at::Tensor& a_nk, const at::Tensor& b_km);
at::Tensor product_out(at::Tensor out_nm, const at::Tensor& a_nk, const at::Tensor& b_km);

/// Multiplies x in place by a factor in float32's precision, and returns x. On a CPU, x.mul_(factor) would
/// round the factor to x's dtype first.
at::Tensor scale_in_place(const at::Tensor& x, double factor);
/// Returns `number` rounded to a dtype.
double rounded_to(at::ScalarType dtype, double number);

/// Adds a_nk · b_km to out_nm, whose rows may be strided.
void add_product(at::Tensor out_nm, const at::Tensor& a_nk, const at::Tensor& b_km);

/// Returns x_nc · weight_ocᵀ (+ bias_o).
at::Tensor linear(const at::Tensor& x_nc, const at::Tensor& weight_oc, const at::Tensor& bias_o);

/// Sets gradient_oc to beta · gradient_oc + dy_noᵀ · x_nc. With beta 0 the old content is not read. The
/// gradient may be float32 if dy and x are bfloat16. Does nothing if gradient_oc is undefined (a frozen
/// weight).
void accumulate_weight_gradient(at::Tensor gradient_oc, const at::Tensor& dy_no, const at::Tensor& x_nc,
                                double beta);
/// Sets gradient_o to beta · gradient_o + Σ_n dy_no; does nothing if gradient_o is undefined.
void accumulate_bias_gradient(at::Tensor gradient_o, const at::Tensor& dy_no, double beta);

/// Returns x · rstd · (offset + weight) over the last dimension; x [N, W] may have strided rows. Writes rstd,
/// float32 [N].
at::Tensor rms_norm(const at::Tensor& x_nw, const at::Tensor& weight_w, double eps, at::Tensor& rstd_n,
                    double offset = 0);
/// Recomputes the norm from a saved rstd.
at::Tensor rms_norm_again(const at::Tensor& x_nw, const at::Tensor& weight_w, const at::Tensor& rstd_n,
                          double offset = 0);
/// Adds the gradient through the norm to dx_nw (`accumulate`), or writes it; sets gradient_w to beta ·
/// gradient_w + the weight's gradient, unless gradient_w is undefined.
void rms_norm_backward(const at::Tensor& dy_nw, const at::Tensor& x_nw, const at::Tensor& weight_w,
                       const at::Tensor& rstd_n, at::Tensor dx_nw, bool accumulate, at::Tensor gradient_w,
                       double beta, double offset = 0);

/// Rotates the first `heads` heads of every row of qkv_nw in place. Row n takes row n mod T of the tables [T,
/// pairs]; 2 · pairs elements of a head are rotated. Pairs are (0, pairs), (1, pairs + 1), …, or with
/// `interleaved` (0, 1), (2, 3), …. `backward` applies the transpose.
void rotate(at::Tensor qkv_nw, const at::Tensor& cos_td, const at::Tensor& sin_td, int64_t heads,
            int64_t head_dim, bool backward, bool interleaved = false);

/// Returns f(gate) · up for gate_up [N, 2I], or f for [N, I].
at::Tensor gate(const at::Tensor& gate_up_n2i, const GateRule& rule = {});
/// Replaces gate_up by its gradient. Returns f(gate) · up, computed again, and uses act_ni's memory for it if
/// act_ni is defined; act_ni may be dact_ni, which is then overwritten.
at::Tensor gate_backward(at::Tensor gate_up_n2i, const at::Tensor& dact_ni, const GateRule& rule = {},
                         at::Tensor act_ni = {});

/// Returns each row's cross-entropy, float32 [N]. If `scale` is given, replaces the logits by their gradient,
/// (softmax − onehot) · scale.
at::Tensor cross_entropy(at::Tensor logits_nv, const at::Tensor& labels_n, std::optional<double> scale);

/// Adds dx_nw to the rows ids_n of gradient_vw, in order.
void accumulate_embedding_gradient(at::Tensor gradient_vw, const at::Tensor& ids_n, const at::Tensor& dx_nw);

}  // namespace ringmaster
