/// Computes the attention of block_attention.h (same letters and contract, but no softcap) with the
/// processor's bfloat16 matrix products. Scores are stored key by key, summed in float32 and never rounded.
/// Probabilities and the scores' gradients are rounded to bfloat16 for the products that they enter, as in
/// LibTorch's flash attention.
#pragma once

#include "engine/attention/block_attention.h"
#include "engine/attention/panel_products.h"

namespace ringmaster {

void key_block_attention_forward(const PanelProducts& products, SoftmaxSums& sums, const at::Tensor& q_bhtd,
                                 const at::Tensor& k_bksd, const at::Tensor& v_bksd,
                                 const std::vector<Slice>& slices, const ScoreRule& rule);

void key_block_attention_backward(const PanelProducts& products, const at::Tensor& dq_bhtd,
                                  const at::Tensor& dk_bksd, const at::Tensor& dv_bksd,
                                  const at::Tensor& dout_bhtd, const at::Tensor& q_bhtd,
                                  const at::Tensor& k_bksd, const at::Tensor& v_bksd,
                                  const at::Tensor& lse_bht, const at::Tensor& delta_bht,
                                  const std::vector<Slice>& slices, const ScoreRule& rule);

}  // namespace ringmaster
