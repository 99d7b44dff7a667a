#include "engine/train/training_step.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "engine/config/precision.h"
#include "engine/plan/unfrozen.h"
#include "engine/train/program_fault.h"
#include "engine/train/rank_agreement.h"
#include "engine/train/update_check.h"

namespace ringmaster {

namespace {

/// Returns the elements of each parameter that stay frozen because no pattern in `patterns` selects them.
std::vector<std::vector<FlatRange>> frozen_elements(const std::vector<ParameterShape>& shapes,
                                                    const std::vector<std::string>& patterns) {
    std::vector<std::vector<FlatRange>> frozen;
    if (patterns.empty()) return frozen;
    for (const ParameterShape& shape : shapes) {
        const Unfrozen found = unfrozen_of(shape, patterns);
        std::vector<FlatRange>& ranges = frozen.emplace_back();
        const int64_t row = shape.size() / shape.shape[0];
        if (!found.trained) ranges.push_back({0, shape.size()});
        for (const auto& [begin, end] : found.frozen_rows) ranges.push_back({begin * row, end * row});
    }
    return frozen;
}

}  // namespace

TrainingStep::TrainingStep(const Plan& plan, Groups& groups, TrainedModel& trained, Optimizer& optimizer,
                           const Kept& kept)
    : plan_(plan),
      config_(plan.config),
      groups_(groups),
      trained_(trained),
      parameters_(trained.trained()),
      optimizer_(optimizer),
      pass_(plan, groups, trained, kept),
      frozen_(frozen_elements(parameters_.shapes(), config_.unfrozen_parameters)) {}

/// Clears the gradients of frozen elements, so that neither the norm nor the optimizer sees them.
void TrainingStep::freeze() {
    for (size_t i = 0; i < frozen_.size(); ++i) {
        const FlatRange own = parameters_.own_elements(i);
        for (const FlatRange& range : frozen_[i]) {
            const int64_t begin = std::max(range.begin, own.begin), end = std::min(range.end, own.end);
            if (begin < end)
                parameters_.own_values(parameters_.gradients(), i)
                    .narrow(0, begin - own.begin, end - begin)
                    .zero_();
        }
    }
}

TrainingStep::Computed TrainingStep::compute(const StepRows& rows, const Requests& requests) {
    const bool scales = config_.precision == kFp16Mixed;
    if (scales) pass_.scale_loss(loss_scale_.scale);
    std::optional<PreferenceLoss> preferred;
    const MeshPass::Result own = learn_step(plan_, groups_, pass_, rows, facts_, preferred);
    Computed computed = agree(own, rows, requests);
    if (preferred) {
        computed.loss = preferred->loss;
        computed.preference = preferred->figures;
    }
    check_weights();
    freeze();
    if (scales) unscale(computed);
    computed.router_loss = own.router_loss;
    computed.grad_norm = gradient_norm(parameters_);
    check_norm(computed.grad_norm);
    return computed;
}

void TrainingStep::unscale(Computed& computed) {
    const bool overflowed = unscale_gradients(parameters_, loss_scale_.scale);
    computed.loss_scale = loss_scale_.scale;
    computed.overflowed = largest_of_ranks(groups_, overflowed ? 1 : 0) > 0;
}

TrainingStep::Computed TrainingStep::agree(const MeshPass::Result& own, const StepRows& rows,
                                           const Requests& requests) {
    at::Tensor values = at::zeros({4 + kShareNumbers}, at::kDouble);
    double* mine = values.data_ptr<double>();
    mine[0] = own.loss_sum;
    mine[1] = requests.stop ? 1 : 0;
    mine[2] = requests.save ? 1 : 0;
    mine[3] = requests.sample ? 1 : 0;
    put_shares(own.shares, groups_, mine + 4);
    at::Tensor shared = values.to(groups_.device());
    groups_.world().all_reduce(shared).wait();
    values = shared.cpu();
    const double* sums = values.data_ptr<double>();
    check_shares(sums + 4, rows.counts.valid_labels);
    return {own, sums[0] * rows.scale(), 0, {sums[1] > 0, sums[2] > 0, sums[3] > 0}};
}

void TrainingStep::check_norm(double norm) {
    const RankRange of_ranks = range_of_ranks(groups_, groups_.world(), {norm})[0];
    if (of_ranks.same()) return;
    throw ProgramFault("the ranks do not have the same gradient norm: from " +
                       std::to_string(of_ranks.least) + " to " + std::to_string(of_ranks.most));
}

void TrainingStep::check_weights() {
    check_same_weights(groups_, parameters_);
}

void TrainingStep::update(const Computed& computed, int64_t step, double learning_rate) {
    UpdateCheck check(parameters_, optimizer_, config_, step);
    if (config_.max_grad_norm) {
        // The factor is that of torch.nn.utils.clip_grad_norm_: it never enlarges gradients, and the constant
        // avoids a division by zero.
        const double factor = *config_.max_grad_norm / (computed.grad_norm + 1e-6);
        if (factor < 1) parameters_.gradients().values.mul_(factor);
    }
    optimizer_.step(learning_rate);
    check.after(groups_, computed.grad_norm, learning_rate);
}

}  // namespace ringmaster
