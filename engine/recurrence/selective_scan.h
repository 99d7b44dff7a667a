/// Computes the scan of a Mamba-1 layer, between the layer's matrices, over the ranks that share a sequence.
/// This covers the steps Δ = softplus(steps + bias), the scan with rates A = −exp(A_log), the term D · x,
/// which skips the state, and the gate. Documents are independent. A stretch is an affine map of the state,
/// h_after = P ⊙ h_before + S, with P = exp(A · Σ Δ). Ranks exchange P and S, two numbers for each channel
/// and number of its state, however long the sequence is (state_passing.h). Gradients go the same way back.
///
/// Letters: B rows, T this rank's tokens of a row, E channels, K numbers of a channel's state.
/// Sources: Gu & Dao 2023, arXiv 2312.00752, section 3.3; JambaMambaMixer in transformers 5.23.
#pragma once

#include <ATen/core/Tensor.h>

#include "engine/families/delta_sizes.h"
#include "engine/recurrence/channel_convolution.h"
#include "engine/recurrence/delta_layer.h"

namespace ringmaster {

/// Holds the inputs of the scan, or their gradients.
struct ScanTensors {
    at::Tensor channels_bte;  ///< x
    at::Tensor steps_bte;     ///< steps before bias and softplus
    at::Tensor keys_btk, queries_btk;
};

class SelectiveScan {
  public:
    SelectiveScan(Groups& groups, const OwnStretches& stretches, const DeltaSizes& sizes,
                  const DeltaWeights& weights)
        : groups_(groups), stretches_(stretches), sizes_(sizes), weights_(weights) {}

    /// Returns the convolution of the channels in projected_btw, [B, T, 2E]; the second half of projected_btw
    /// has the gates.
    at::Tensor convolved(const at::Tensor& projected_btw) const;
    /// Replaces the channels in projected_btw by their gradient, given that of `convolved`.
    void convolved_backward(const at::Tensor& dconvolved_bte, const at::Tensor& projected_btw,
                            const DeltaWeights& gradients, double beta) const;

    /// Returns the output before the gate as [B, T, E], with the states before stretches and their maps.
    DeltaOutput forward(const ScanTensors& in) const;
    /// Returns the input of the layer's last matrix: y · silu(gate), [B, T, E].
    at::Tensor gated(const at::Tensor& projected_btw, const DeltaOutput& output) const;
    /// Returns the gradients of `in`, given the gradient of `gated`; their steps_bte reuses the memory of
    /// in.steps_bte. Replaces the gates in projected_btw by their gradient. Sets the gradients of the
    /// weights, if they are defined, to beta · gradient + new gradient.
    ScanTensors backward(const at::Tensor& dgated_bte, const at::Tensor& projected_btw, const ScanTensors& in,
                         const DeltaOutput& output, const DeltaWeights& gradients, double beta) const;

  private:
    struct Some;  ///< tensors of some channels
    struct Sums;  ///< holds gradients of weights, keys and queries

    template <class Body>
    void for_some(const ScanTensors& in, const Body& body) const;
    /// Returns the gradient of the state after each of this rank's stretches; undefined if no later stretch
    /// reads that state.
    std::vector<at::Tensor> gradients_after(const at::Tensor& dgated_bte, const at::Tensor& gates_bte,
                                            const ScanTensors& in, const DeltaOutput& output) const;

    Groups& groups_;
    const OwnStretches& stretches_;
    const DeltaSizes& sizes_;
    const DeltaWeights& weights_;
};

}  // namespace ringmaster
