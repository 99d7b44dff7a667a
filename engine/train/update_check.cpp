#include "engine/train/update_check.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>
#include <utility>

#include "engine/model/dropout.h"
#include "engine/optimizers/values_at.h"
#include "engine/train/program_fault.h"
#include "engine/train/rank_agreement.h"

namespace ringmaster {

namespace {

constexpr int kBetweenEnds = 6;

/// Returns a bound for the relative error of rounding to a dtype.
double rounding_of(at::ScalarType dtype) {
    return dtype == at::kFloat ? 1e-6 : 8e-3;
}

Optimizer::Element sizes_of(Optimizer::Element element) {
    element.weight = std::abs(element.weight);
    element.gradient = std::abs(element.gradient);
    for (double& state : element.states) state = std::abs(state);
    return element;
}

std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", value);
    return text;
}

}  // namespace

UpdateCheck::UpdateCheck(Parameters& parameters, const Optimizer& optimizer, const Config& config,
                         int64_t step)
    : parameters_(parameters), optimizer_(optimizer), config_(config), step_(step) {
    Groups* groups = parameters.sharding_groups();
    const int64_t rank = groups != nullptr ? groups->shard().rank() : 0;
    int64_t in_unit = 0;
    for (size_t i = 0; i < parameters.shapes().size(); ++i) {
        const int unit = parameters.unit_of(i);
        if (i > 0 && parameters.unit_of(i - 1) != unit) in_unit = 0;
        const int64_t slice = parameters.own_slice(parameters.master(), unit).size(0);
        const int64_t size = parameters.shapes()[i].size();
        choose(i, std::max(in_unit - rank * slice, int64_t{0}),
               std::min(in_unit + size - rank * slice, slice), mixed(static_cast<uint64_t>(step)) + i);
        in_unit += size;
    }
    before_ = {values_at(parameters, parameters.master(), samples_),
               values_at(parameters, parameters.gradients(), samples_), optimizer.states_at(samples_)};
}

/// Chooses samples among elements [begin, end) of the unit's slice.
void UpdateCheck::choose(size_t parameter, int64_t begin, int64_t end, uint64_t seed) {
    if (begin >= end) return;
    std::vector<int64_t> chosen = {begin, end - 1};
    for (int i = 0; i < kBetweenEnds; ++i)
        chosen.push_back(begin +
                         static_cast<int64_t>(mixed(seed + static_cast<uint64_t>(i) * 0x9e3779b97f4a7c15) %
                                              static_cast<uint64_t>(end - begin)));
    std::sort(chosen.begin(), chosen.end());
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    for (const int64_t at : chosen)
        samples_.push_back({parameter, parameters_.unit_of(parameter), at, at - begin});
}

/// Returns a message about the first state of a sample that was not updated by the formula; empty if all
/// were. Without this check, moments that are never written back would go unnoticed, because every update
/// would still follow its formula from the old moments.
std::string UpdateCheck::wrong_state(const Optimizer::Element& element, const States& now,
                                     size_t sample) const {
    constexpr double kSmallest = std::numeric_limits<float>::min(),
                     kLargest = std::numeric_limits<float>::max();
    const bool wide = parameters_.master().values.scalar_type() == at::kFloat;
    const double rounding = wide ? 1e-3 : 8e-2;  // 1 - beta may be computed in float
    const std::vector<double> expected = optimizer_.states_after(element);
    for (size_t s = 0; s < expected.size(); ++s) {
        const double held = now.values[s].data_ptr<double>()[sample], before = std::abs(element.states[s]);
        const double stored = now.roundings.empty() ? 0 : now.roundings[s].data_ptr<double>()[sample];
        const double allowed = rounding * (std::abs(expected[s]) + before) + 1.001 * stored + kSmallest;
        if (std::abs(expected[s]) < kLargest && !(std::abs(held - expected[s]) <= allowed))
            return "a state is " + number(held) + " where the optimizer makes it " + number(expected[s]);
    }
    return "";
}

void UpdateCheck::after(Groups& groups, double gradient_norm, double learning_rate) const {
    const at::Tensor now = values_at(parameters_, parameters_.master(), samples_);
    const double clip =
        config_.max_grad_norm ? std::min(1.0, *config_.max_grad_norm / (gradient_norm + 1e-6)) : 1.0;
    const double rounding = rounding_of(parameters_.master().values.scalar_type());
    const States states{optimizer_.states_at(samples_), optimizer_.roundings_at(samples_)};
    const auto of = [](const at::Tensor& values) { return values.data_ptr<double>(); };
    double wrong = 0;  // 1 + index of the first wrong tensor
    std::string how;
    for (size_t i = 0; i < samples_.size(); ++i) {
        const size_t parameter = samples_[i].parameter;
        const double gradient = of(before_.gradients)[i] * clip, weight = of(before_.weights)[i];
        const int64_t at = parameters_.own_elements(parameter).begin + samples_[i].in_own;
        Optimizer::Element element{weight, gradient, {}, parameter, at};
        for (const at::Tensor& state : before_.states) element.states.push_back(of(state)[i]);
        if (wrong == 0) how = wrong_state(element, states, i);
        if (wrong == 0 && !how.empty()) wrong = static_cast<double>(parameter + 1);
        const std::optional<double> said = optimizer_.change_of(element, step_, learning_rate);
        if (!said) continue;
        const double change = *said;
        // The weight overflows; the next step reports the loss, which is infinite.
        if (std::abs(weight + change) > std::numeric_limits<float>::max()) continue;
        const double off = std::abs(of(now)[i] - (weight + change));
        // The terms are rounded before they are added, so the error does not shrink if they nearly cancel.
        const double terms =
            std::abs(optimizer_.change_of(sizes_of(element), step_, learning_rate).value_or(0));
        const double allowed = rounding * std::max(std::abs(weight), std::abs(weight + change)) +
                               (rounding < 1e-4 ? 1e-2 : 5e-2) * std::max(std::abs(change), terms) + 1e-12;
        if (off <= allowed || wrong > 0) continue;
        wrong = static_cast<double>(parameter + 1);
        how = "an element is " + number(of(now)[i]) + " where the optimizer makes it " +
              number(weight + change);
    }
    const auto named = static_cast<size_t>(largest_of_ranks(groups, wrong));
    if (named == 0) return;
    throw ProgramFault("the update of step " + std::to_string(step_) + " is wrong in " +
                       parameters_.shapes()[named - 1].name +
                       (static_cast<double>(named) == wrong ? ": " + how : ", on another rank"));
}

}  // namespace ringmaster
