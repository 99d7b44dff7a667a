/// Turns the rewards of sampled completions into advantages, as TRL 1.16 does (trainer/grpo_trainer.py,
/// _generate_and_score_completions), but in double. The completions of one prompt form a group; groups are
/// stored one after the other.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/config/sampling.h"

namespace ringmaster {

/// Holds each completion's rewards, one per reward function; nullopt if the function returned none.
using Rewards = std::vector<std::vector<std::optional<double>>>;

/// Holds the mean of rewards and their spread, the standard deviation with Bessel's correction. Both ignore
/// completions without a reward.
struct RewardFigures {
    std::optional<double> mean, spread;
};

struct Advantages {
    std::vector<double> of_completions;  ///< 0 for a completion without a reward
    RewardFigures weighted;              ///< figures of the completions' weighted sums
    std::vector<RewardFigures> of_functions;
    /// Share of completions from which nothing is learned: the rewards of their group are equal or, with
    /// RewardScale::Batch, those of the whole step.
    double even_share = 0;
};

/// Returns the advantages. `rewards` holds whole groups, and a reward for each of the rule's weights.
Advantages advantages_of(const SamplingRule& rule, const Rewards& rewards);

}  // namespace ringmaster
