/// Recomputes the losses of preferences with LibTorch's operations in float64, as preflight's reference.
/// Autograd computes the derivatives, and the code shares no formula with preference_rules.cpp.
#pragma once

#include <ATen/core/Tensor.h>

#include "engine/config/preference.h"

namespace ringmaster {

/// Holds the facts about each document that the loss needs, in the step's order. All tensors are float64
/// [documents].
struct PlainFacts {
    at::Tensor labels_d, prompt_labels_d;  ///< numbers of labels in the completion and in the prompt
    at::Tensor reference_d;
    at::Tensor desirable_d;             ///< 1 or 0; set for KTO only
    at::Tensor mismatched_reference_d;  ///< reference's log-probabilities of KTO's mismatched rows
};

/// Returns the loss of sums_d2 [documents, or twice as many with KTO's mismatched rows; completion, prompt].
at::Tensor plain_preference_loss(const Preference& preference, const PlainFacts& facts,
                                 const at::Tensor& sums_d2);

}  // namespace ringmaster
