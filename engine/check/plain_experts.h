/// Computes a mixture of experts and its router's loss by plain operations, for preflight's plain model.
///
/// Letters: N tokens, C hidden, E experts, K experts of a token.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "engine/comm/groups.h"
#include "engine/families/model_config.h"

namespace ringmaster {

/// A layer's tensors, in float32. Biases are undefined if the model has none.
struct PlainExperts {
    at::Tensor router_ec, gate_up_exc, down_eci;
    at::Tensor router_bias_e = {}, gate_up_bias_ex = {}, down_bias_ec = {};
    at::Tensor scales_e = {};   ///< factors of the experts' routing weights, or undefined
    at::Tensor logits_ne = {};  ///< logits of a router that does not read x_nc, or undefined
    /// Bias of the scores by which experts are chosen; undefined if there is none.
    at::Tensor correction_e = {};
};

struct PlainMixture {
    at::Tensor y_nc;
    at::Tensor probabilities_ne;
    at::Tensor chosen_nk;
};

/// Computes the mixture with autograd. Source: Jiang et al. 2024, "Mixtral of Experts", section 2.1.
PlainMixture plain_mixture(const ModelConfig& model, const PlainExperts& experts, const at::Tensor& x_nc);

/// Returns the input of an MLP's last product, given the products before it.
at::Tensor plain_gate(const at::Tensor& both_n2i, const GateRule& rule);

/// Returns the gradient of the router's loss with respect to each expert's probability, float32 [E], from the
/// mixtures of all layers on all ranks; undefined without such a loss. All ranks take part. Source: Fedus et
/// al. 2021, "Switch Transformers", equations 4 to 6.
at::Tensor plain_router_gradient(const ModelConfig& model, Groups& groups,
                                 const std::vector<PlainMixture>& layers);

}  // namespace ringmaster
