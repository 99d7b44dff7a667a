/// Recomputes the losses of rollouts with LibTorch's operations in float64, as preflight's reference.
/// Autograd computes the derivatives, and the code shares no formula with policy_rules.cpp.
#pragma once

#include <ATen/core/Tensor.h>

#include "engine/config/policy.h"

namespace ringmaster {

/// Holds the facts about the labels of a step that the loss needs, document after document.
struct PlainRollouts {
    at::Tensor document_l;          ///< int64: index of each label's document
    at::Tensor advantage_d;         ///< float64 [documents]
    at::Tensor old_l, reference_l;  ///< float64 [labels]
    /// Float64 [labels]; multiplies the losses, but not the divergences. If undefined, the factors are 1.
    at::Tensor factor_l = {};
};

/// Returns the loss of the labels' log-probabilities, float64 [labels].
at::Tensor plain_policy_loss(const PolicyRule& rule, const PlainRollouts& rollouts,
                             const at::Tensor& log_p_l);

}  // namespace ringmaster
