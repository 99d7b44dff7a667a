#include "engine/train/advantages.h"

#include <cmath>
#include <span>

namespace ringmaster {

namespace {

using Reward = std::optional<double>;

constexpr double kLeastSpread = 1e-4;  ///< added to the spread to avoid a division by zero
constexpr double kCloseToZero = 1e-8;  ///< torch.isclose's tolerance at 0

RewardFigures figures_of(std::span<const Reward> rewards) {
    double sum = 0, squares = 0, count = 0;
    for (const Reward& reward : rewards) {
        if (!reward) continue;
        sum += *reward;
        ++count;
    }
    if (count == 0) return {};
    const double mean = sum / count;
    for (const Reward& reward : rewards) {
        if (reward) squares += (*reward - mean) * (*reward - mean);
    }
    if (count == 1) return {mean, {}};
    return {mean, std::sqrt(squares / (count - 1))};
}

/// Returns the weighted sum of a completion's rewards; nullopt if the completion has no reward.
Reward weighted_sum(const std::vector<double>& weights, const std::vector<Reward>& rewards) {
    Reward sum;
    for (size_t f = 0; f < weights.size(); ++f) {
        if (rewards[f]) sum = sum.value_or(0) + weights[f] * *rewards[f];
    }
    return sum;
}

/// Returns a completion's advantage; 0 if it has no reward, or if the spread is unknown because only one
/// completion has a reward, as in TRL.
double advantage_of(const SamplingRule& rule, const Reward& reward, const RewardFigures& group,
                    const RewardFigures& all) {
    if (!reward) return 0;
    const double above = *reward - *group.mean;
    if (rule.scale == RewardScale::None) return above;
    const Reward& spread = rule.scale == RewardScale::Group ? group.spread : all.spread;
    return spread ? above / (*spread + kLeastSpread) : 0;
}

/// Subtracts the group's mean from each function's rewards, and divides them by the group's spread, as GDPO
/// does.
Rewards scaled_by_function(const SamplingRule& rule, const Rewards& rewards) {
    Rewards scaled = rewards;
    const auto size = static_cast<size_t>(rule.generations);
    for (size_t f = 0; f < rule.weights.size(); ++f) {
        for (size_t begin = 0; begin < rewards.size(); begin += size) {
            std::vector<Reward> own;
            for (size_t i = begin; i < begin + size; ++i) own.push_back(rewards[i][f]);
            const RewardFigures group = figures_of(own);
            for (size_t i = begin; i < begin + size; ++i) {
                if (!rewards[i][f]) continue;
                scaled[i][f] = group.spread
                                   ? Reward((*rewards[i][f] - *group.mean) / (*group.spread + kLeastSpread))
                                   : std::nullopt;
            }
        }
    }
    return scaled;
}

std::vector<Reward> weighted_sums(const std::vector<double>& weights, const Rewards& rewards) {
    std::vector<Reward> sums;
    for (const std::vector<Reward>& of_completion : rewards)
        sums.push_back(weighted_sum(weights, of_completion));
    return sums;
}

/// Sets the advantages from the sums of scaled rewards, with all of a step's completions as one group.
void take_scaled(const SamplingRule& rule, const Rewards& rewards, Advantages& found) {
    const Rewards scaled = scaled_by_function(rule, rewards);
    std::vector<Reward> sums = weighted_sums(rule.weights, scaled);
    for (size_t i = 0; i < sums.size(); ++i) {
        // TRL leaves out completions without a reward, and counts an unknown spread as 0.
        if (weighted_sum(rule.weights, rewards[i]) && !sums[i]) sums[i] = 0;
    }
    const RewardFigures all = figures_of(sums);
    SamplingRule by_step = rule;
    by_step.scale = RewardScale::Batch;
    for (const Reward& sum : sums) found.of_completions.push_back(advantage_of(by_step, sum, all, all));
    found.even_share = all.spread && *all.spread <= kCloseToZero ? 1 : 0;
}

}  // namespace

Advantages advantages_of(const SamplingRule& rule, const Rewards& rewards) {
    Advantages found;
    const std::vector<Reward> sums = weighted_sums(rule.weights, rewards);
    found.weighted = figures_of(sums);
    for (size_t f = 0; f < rule.weights.size(); ++f) {
        std::vector<Reward> of_function;
        for (const std::vector<Reward>& of_completion : rewards) of_function.push_back(of_completion[f]);
        found.of_functions.push_back(figures_of(of_function));
    }
    if (rule.by_function) {
        take_scaled(rule, rewards, found);
        return found;
    }
    const auto size = static_cast<size_t>(rule.generations);
    double even = 0;
    for (size_t begin = 0; begin < sums.size(); begin += size) {
        const RewardFigures group = figures_of(std::span(sums).subspan(begin, size));
        const Reward& spread = rule.scale == RewardScale::Batch ? found.weighted.spread : group.spread;
        if (spread && *spread <= kCloseToZero) even += static_cast<double>(size);
        for (size_t i = begin; i < begin + size; ++i)
            found.of_completions.push_back(advantage_of(rule, sums[i], group, found.weighted));
    }
    if (!sums.empty()) found.even_share = even / static_cast<double>(sums.size());
    return found;
}

}  // namespace ringmaster
