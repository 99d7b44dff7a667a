/// Computes the gated delta rule, or a state space, token by token in float64, and the operations around them
/// with plain autograd, for preflight's plain model. The code shares only the sizes with engine/recurrence.
///
/// Letters: N tokens of all documents, W outputs of the first matrix, H value heads, K and V widths of a
/// head's keys and values. Source: Yang et al. 2024, "Gated Delta Networks", equation 10; modules as in
/// transformers' Qwen3NextGatedDeltaNet. A state space: Dao & Gu 2024, equation 1; modules as in
/// FalconH1Mixer. Mamba-1: Gu & Dao 2023, equations 2a and 4; modules as in JambaMambaMixer.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "engine/families/delta_sizes.h"
#include "engine/model/parameters.h"

namespace ringmaster {

/// Returns queries, keys, values, β and the log of the decay of every value head: [N, H·(2K + V + 2)]. For a
/// state space, the term that skips the state replaces β: [N, H·(2K + 2V + 1)].
at::Tensor plain_rule_inputs(const DeltaSizes& sizes, const DeltaWeights& weights,
                             const at::Tensor& projected_nw, const std::vector<FlatRange>& documents);

/// Returns Mamba-1's channels after their convolution: [N, H].
at::Tensor plain_channels(const DeltaSizes& sizes, const DeltaWeights& weights,
                          const at::Tensor& projected_nw, const std::vector<FlatRange>& documents);
/// Holds the outputs of Mamba-1's second and third matrix, after norms; the steps are before softplus.
struct PlainSelected {
    at::Tensor steps_nh, keys_nk, queries_nk;
};
/// Returns queries and keys, which all heads share, the values that are written, steps, and the term that
/// skips the state: [N, 2K + 3H].
at::Tensor plain_scan_inputs(const DeltaWeights& weights, const at::Tensor& channels_nh,
                             const PlainSelected& selected);

/// Returns the rule's outputs, [N, H·V]; each document starts with a state of zeros. Only Mamba-1 has
/// `decay_log_hk`, A_log.
at::Tensor plain_rule(const DeltaSizes& sizes, const at::Tensor& inputs_nw,
                      const std::vector<FlatRange>& documents, const at::Tensor& decay_log_hk = {});
struct PlainRuleGradients {
    at::Tensor inputs_nw, decay_log_hk;  ///< the second is undefined if there is none
};
PlainRuleGradients plain_rule_backward(const DeltaSizes& sizes, const at::Tensor& inputs_nw,
                                       const at::Tensor& dout_nw, const std::vector<FlatRange>& documents,
                                       const at::Tensor& decay_log_hk = {});

/// Returns the gated norm of the rule's outputs.
at::Tensor plain_gated(const DeltaSizes& sizes, const DeltaWeights& weights, double eps,
                       const at::Tensor& projected_nw, const at::Tensor& heads_nw);

}  // namespace ringmaster
