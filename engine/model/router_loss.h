/// Computes the loss that keeps a router from always choosing the same experts, over all tokens of a step:
/// every micro-batch and every rank. As in transformers (load_balancing_loss_func), all layers' tokens are
/// counted together, and padding is not counted. Source: Fedus et al. 2021, "Switch Transformers", equations
/// 4 to 6.
///
/// Letters: N tokens, E experts.
#pragma once

#include <ATen/core/Tensor.h>

#include "engine/families/model_config.h"
#include "engine/model/expert_ops.h"

namespace ringmaster {

class RouterLoss {
  public:
    RouterLoss(const ModelConfig& model, at::Device device);

    /// Begins a step, or another count of the same step.
    void begin();
    /// Counts the choices of a layer; tokens at a place below 0 are padding.
    void count(const Routing& routing, const at::Tensor& places_n);
    /// Returns whether choices are still counted: from `begin` to `settle`.
    bool counts() const { return !gradient_e_.defined(); }
    /// Returns this rank's sums, float64 [2E + 1], to be summed over ranks in place before `settle`.
    at::Tensor& sums() { return sums_; }
    /// Ends the counting. Later calls of gradient() return the gradients of scale · value().
    void settle(double scale);

    double value() const { return value_; }  ///< coefficient · loss of the step
    /// Returns the gradient of the tokens' probabilities, [N, E].
    at::Tensor gradient(const at::Tensor& places_n) const;

  private:
    const int64_t experts_;
    const double coefficient_;
    /// How often each expert was chosen, then the sum of each expert's probabilities, then the number of
    /// tokens.
    at::Tensor sums_;
    at::Tensor gradient_e_;
    double value_ = 0;
};

}  // namespace ringmaster
