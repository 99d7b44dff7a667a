#include "engine/optimizers/optimizer.h"

#include <ATen/ATen.h>

#include <cmath>

#include "engine/config/offloading.h"
#include "engine/config/optimizers.h"
#include "engine/optimizers/adamw.h"
#include "engine/optimizers/matrix_optimizer.h"
#include "engine/optimizers/rule_optimizer.h"
#include "engine/optimizers/squared_norm.h"
#include "engine/optimizers/stored_adamw.h"

namespace ringmaster {

std::unique_ptr<Optimizer> make_optimizer(Parameters& parameters, const Config& config, int64_t total_steps) {
    const OptimizerKind* kind = find_optimizer(config.optimizer);
    TORCH_CHECK(kind != nullptr, "no optimizer ", config.optimizer);
    if (kind->needs_matrices()) return make_matrix_optimizer(parameters, config);
    if (kind->rule != UpdateRule::AdamW)
        return std::make_unique<RuleOptimizer>(parameters, config, *kind, total_steps);
    const bool as_weights =
        kind->states == StateKind::AsWeights ||
        (kind->states == StateKind::Float32 && parameters.master().values.scalar_type() == at::kFloat);
    if (as_weights && !states_on_disk(config)) return std::make_unique<AdamW>(parameters, config);
    return std::make_unique<StoredAdamW>(parameters, config, *kind);
}

std::vector<double> adamw_moments(const Config& config, const Optimizer::Element& element) {
    const double beta1 = config.adam_beta1, beta2 = config.adam_beta2, gradient = element.gradient;
    return {beta1 * element.states[0] + (1 - beta1) * gradient,
            beta2 * element.states[1] + (1 - beta2) * gradient * gradient};
}

double adamw_change(const Config& config, const Optimizer::Element& element, const ParameterGroup& group,
                    int64_t step, double learning_rate) {
    if (!group.trained) return 0;
    const auto steps = static_cast<double>(step);
    const std::vector<double> moments = adamw_moments(config, element);
    const double m = moments[0], v = moments[1];
    const double correction1 = 1 - std::pow(config.adam_beta1, steps);
    const double correction2 = 1 - std::pow(config.adam_beta2, steps);
    return -learning_rate * group.rate *
           (group.decay * element.weight +
            m / correction1 / (std::sqrt(v / correction2) + config.adam_epsilon));
}

double gradient_norm(Parameters& parameters) {
    std::vector<at::Tensor> own;
    for (size_t i = 0; i < parameters.shapes().size(); ++i)
        own.push_back(parameters.own_values(parameters.gradients(), i));
    at::Tensor sum = squared_norm(own).to(parameters.device());
    if (Groups* groups = parameters.sharding_groups()) {
        sum = sum.view({1});
        groups->shard().all_reduce(sum).wait();
    }
    return std::sqrt(sum.item<double>());
}

}  // namespace ringmaster
