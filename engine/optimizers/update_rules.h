/// Implements update rules that work on single elements, as the original libraries compute them: torch.optim
/// (SGD, RMSprop), bitsandbytes 0.50 (Lion, AdEMAMix, RMSprop) and schedulefree 1.4 (AdamWScheduleFree). Each
/// rule has the library's operations in order, and the formula in float64 for proofs.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <vector>

#include "engine/config/config.h"
#include "engine/config/optimizers.h"

namespace ringmaster {

/// The inputs of an update besides the elements.
struct RuleStep {
    int64_t step = 1;  ///< counts from 1
    double rate = 0;
    double decay = 0;
    bool in_codes = false;  ///< true if the states are block-wise codes
};

class ElementRule {
  public:
    virtual ~ElementRule() = default;

    /// Called once per step, before the elements, with the schedule's rate.
    virtual void begin(int64_t /*step*/, double /*rate*/) {}
    /// Changes weights and states in place. Their dtype is that of the library's computation.
    virtual void move(const RuleStep& at, at::Tensor& weights, const at::Tensor& gradients,
                      std::vector<at::Tensor>& states) const = 0;
    /// Returns the change of a weight, or nullopt if rounding errors determine the change.
    virtual std::optional<double> change(const RuleStep& at, double weight, double gradient,
                                         const std::vector<double>& states) const = 0;
    /// Returns the numbers that belong to the whole run and not to a parameter; checkpoints keep them.
    virtual std::vector<double> numbers() const { return {}; }
    virtual void take_numbers(const std::vector<double>&) {}
    /// Switches to the weights for evaluation or for training; does nothing if they are the same.
    virtual void average(bool /*averaged*/, at::Tensor& /*weights*/,
                         const std::vector<at::Tensor>& /*states*/) const {}
    virtual bool averages() const { return false; }
};

/// Returns the rule of an optimizer. `warmup_steps` is the length of the run's warmup, which some rules apply
/// themselves.
std::unique_ptr<ElementRule> make_rule(const Config& config, const OptimizerKind& kind, int64_t warmup_steps);

}  // namespace ringmaster
