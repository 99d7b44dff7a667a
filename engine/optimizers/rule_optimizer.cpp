#include "engine/optimizers/rule_optimizer.h"

#include <ATen/ATen.h>

#include "engine/optimizers/schedule.h"
#include "engine/optimizers/whole_vectors.h"
#include "engine/piece_sizes.h"

namespace ringmaster {

RuleOptimizer::RuleOptimizer(Parameters& parameters, const Config& config, const OptimizerKind& kind,
                             int64_t total_steps)
    : StoredOptimizer(parameters, config, kind),
      rule_(make_rule(config, kind, warmup_steps_of(config, total_steps))),
      arithmetic_(kind.states == StateKind::AsWeights ? parameters.master().values.scalar_type()
                                                      : at::kFloat) {}

/// Returns how many elements are updated at once: few on the CPU, to keep them in cache between operations.
int64_t RuleOptimizer::elements_at_once() const {
    constexpr int64_t kInCache = int64_t{1} << 18;
    if (arithmetic_ == at::kBFloat16 && parameters_.master().values.is_cpu()) return kOneThread;
    return parameters_.master().values.is_cpu() ? kInCache : pieces::kStatesOnTheirWay;
}

void RuleOptimizer::step(double learning_rate) {
    rule_->begin(steps() + 1, learning_rate);
    StoredOptimizer::step(learning_rate);
}

RuleStep RuleOptimizer::step_of(const Owned& owned, int64_t step, double rate) const {
    return {step, rate, owned.group.decay, !owned.states.empty() && owned.states[0].in_codes()};
}

std::vector<at::Tensor> RuleOptimizer::read(const Owned& owned, int64_t begin, int64_t count) const {
    std::vector<at::Tensor> states;
    for (const StoredState& state : owned.states) states.push_back(state.read(begin, count).to(arithmetic_));
    return states;
}

std::vector<at::Tensor> RuleOptimizer::new_states(Owned& owned, int64_t begin, int64_t count,
                                                  double learning_rate) {
    const at::Tensor there = owned.master.narrow(0, begin, count);
    const at::Tensor gradients = in_whole_vectors(owned.gradients.narrow(0, begin, count).to(arithmetic_));
    at::Tensor weights = in_whole_vectors(there.to(arithmetic_));
    std::vector<at::Tensor> states = read(owned, begin, count);
    for (at::Tensor& state : states) state = in_whole_vectors(state);
    rule_->move(step_of(owned, steps(), learning_rate), weights, gradients, states);
    if (!weights.is_same(there)) there.copy_(weights.narrow(0, 0, count));
    for (at::Tensor& state : states) state = state.narrow(0, 0, count);
    return states;
}

void RuleOptimizer::use_averaged_weights(bool averaged) {
    if (!rule_->averages() || averaged == averaged_ || steps() == 0) return;
    averaged_ = averaged;
    for (Owned& owned : owned_) {
        const int64_t own = owned.group.trained ? owned.master.size(0) : 0;
        for (int64_t begin = 0; begin < own; begin += elements_at_once()) {
            const int64_t count = std::min(elements_at_once(), own - begin);
            const at::Tensor there = owned.master.narrow(0, begin, count);
            at::Tensor weights = in_whole_vectors(there);
            std::vector<at::Tensor> states = read(owned, begin, count);
            for (at::Tensor& state : states) state = in_whole_vectors(state);
            rule_->average(averaged, weights, states);
            if (!weights.is_same(there)) there.copy_(weights.narrow(0, 0, count));
        }
    }
    parameters_.share_update();
}

std::optional<double> RuleOptimizer::change_of(const Element& element, int64_t step,
                                               double learning_rate) const {
    const Owned& owned = owned_[element.parameter];
    if (!owned.group.trained) return 0;
    return rule_->change(step_of(owned, step, learning_rate * owned.group.rate), element.weight,
                         element.gradient, element.states);
}

}  // namespace ringmaster
