/// Implements an optimizer that follows one of the rules of update_rules.h.
#pragma once

#include "engine/optimizers/stored_optimizer.h"
#include "engine/optimizers/update_rules.h"

namespace ringmaster {

class RuleOptimizer : public StoredOptimizer {
  public:
    RuleOptimizer(Parameters& parameters, const Config& config, const OptimizerKind& kind,
                  int64_t total_steps);

    void step(double learning_rate) override;
    void use_averaged_weights(bool averaged) override;
    std::optional<double> change_of(const Element& element, int64_t step,
                                    double learning_rate) const override;

  private:
    std::vector<at::Tensor> new_states(Owned& owned, int64_t begin, int64_t count,
                                       double learning_rate) override;
    std::vector<double> run_numbers() const override { return rule_->numbers(); }
    void take_run_numbers(const std::vector<double>& numbers) override { rule_->take_numbers(numbers); }
    int64_t elements_at_once() const override;
    RuleStep step_of(const Owned& owned, int64_t step, double rate) const;
    std::vector<at::Tensor> read(const Owned& owned, int64_t begin, int64_t count) const;

    std::unique_ptr<ElementRule> rule_;
    at::ScalarType arithmetic_;  ///< dtype in which the original library computes
    bool averaged_ = false;
};

}  // namespace ringmaster
