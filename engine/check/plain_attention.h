/// Computes a layer's attention, or its recurrence, by matrix products in float64, for preflight's plain
/// model: each document attends to its own keys. The gradients follow the textbook.
///
/// Letters: N tokens of all documents, H heads, K key/value heads, D head_dim. Source of attention's
/// backward: Dao et al. 2022, "FlashAttention", appendix B.4.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "engine/families/model_config.h"
#include "engine/model/parameters.h"

namespace ringmaster {

/// Returns the heads' outputs, [N, H·D], from rotated queries, keys and values, [N, (H + 2K)·D], or from the
/// inputs of a recurrence (plain_rule_inputs). If a layer has both, the recurrence's inputs and outputs
/// follow attention's. `learned` is what the layer also reads (PlainLayer::learned): the logits of sinks, or
/// A_log of Mamba-1.
at::Tensor plain_attention(const ModelConfig& model, const LayerKind& kind, const at::Tensor& qkv_nw,
                           const std::vector<FlatRange>& documents, const at::Tensor& learned = {});
struct PlainAttentionGradients {
    at::Tensor qkv_nw, learned;
};
/// Returns the gradients of `qkv_nw` and of `learned`, given that of the outputs.
PlainAttentionGradients plain_attention_backward(const ModelConfig& model, const LayerKind& kind,
                                                 const at::Tensor& qkv_nw, const at::Tensor& dout_nw,
                                                 const std::vector<FlatRange>& documents,
                                                 const at::Tensor& learned = {});

}  // namespace ringmaster
