/// block_attention (its letters, its contract, without a softcap) from a processor's own bfloat16 products:
/// scores stand key by key, are added up in float32 and never rounded; probabilities and the scores'
/// gradients are rounded to bfloat16 for the products that they enter, as LibTorch's flash attention rounds
/// them.
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
