/// Computes a layer with the gated delta rule, between the layer's first and last matrix, over the ranks that
/// share a sequence. The steps are a short causal convolution with SiLU, norms of queries and keys, decay and
/// β, the rule, and the gated norm. Documents are independent. For each stretch, ranks exchange an affine map
/// of the state and the tokens that the convolution reads before the stretch. Both sizes are independent of
/// the sequence's length.
///
/// Letters: B rows, T this rank's tokens of a row, W outputs of the layer's first matrix, H value heads, V
/// width of a head's values, C channels of the convolution, J its taps.
/// Source: Qwen3NextGatedDeltaNet and Qwen3_5GatedDeltaNet in transformers 5.23.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "engine/families/delta_sizes.h"
#include "engine/recurrence/delta_weights.h"
#include "engine/recurrence/own_stretches.h"

namespace ringmaster {

/// Holds the results of the forward pass that the backward pass needs.
struct DeltaOutput {
    at::Tensor heads_bthv;  ///< the rule's output, before the gated norm
    /// One per stretch of this rank. A state is undefined if a document begins with the stretch. A transition
    /// is undefined if a document begins or ends with it.
    std::vector<at::Tensor> states, transitions;

    bool defined() const { return heads_bthv.defined(); }
};

class DeltaLayer {
  public:
    DeltaLayer(Groups& groups, const OwnStretches& stretches, const DeltaSizes& sizes,
               const DeltaWeights& weights, double norm_eps)
        : groups_(groups), stretches_(stretches), sizes_(sizes), weights_(weights), eps_(norm_eps) {}

    DeltaOutput forward(const at::Tensor& projected_btw) const;
    /// Returns the input of the layer's last matrix, [B, T, H·V]: the gated norm of forward's output.
    at::Tensor gated(const at::Tensor& projected_btw, const DeltaOutput& output) const;
    /// Replaces projected_btw by its gradient, given that of `gated`; sets the gradients of the weights to
    /// beta · gradient + new gradient, if they are defined.
    void backward(const at::Tensor& dgated_btw, const at::Tensor& projected_btw, const DeltaOutput& output,
                  const DeltaWeights& gradients, double beta) const;

  private:
    struct Some;  ///< tensors of some key heads

    /// Calls `body` with a few key heads at a time, so that intermediate tensors stay small.
    template <class Body>
    void for_heads(const at::Tensor& projected_btw, const at::Tensor& before_brc, const Body& body) const;
    at::Tensor tokens_before(const at::Tensor& projected_btw) const;
    void send_back(const at::Tensor& dbefore_brc, const at::Tensor& dprojected_btw) const;

    Groups& groups_;
    const OwnStretches& stretches_;
    const DeltaSizes sizes_;
    const DeltaWeights weights_;
    const double eps_;
};

}  // namespace ringmaster
