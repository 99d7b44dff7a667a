/// Describes how a run gets and judges completions: `rl: grpo` or `gdpo` with `trl.reward_funcs`.
/// The words are those of TRL 1.16 (trainer/grpo_config.py). The maximum length of a completion and the
/// temperature are part of PolicyRule.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/config/rollout_server.h"

namespace ringmaster {

/// Selects what a group's rewards are divided by, after their mean is subtracted: the group's standard
/// deviation, that of all rewards of the step, or nothing.
enum class RewardScale { Group, Batch, None };

const char* to_string(RewardScale scale);  ///< "group", "batch", "none"

struct SamplingRule {
    int64_t generations = 8;  ///< completions of each prompt; they form a group
    int64_t top_k = 0;        ///< 0: all tokens
    double top_p = 1;
    RewardScale scale = RewardScale::Group;
    /// Each function's rewards are divided by their group's spread before they are added (GDPO); `scale` then
    /// has no effect.
    bool by_function = false;
    std::vector<std::string> functions = {};   ///< "module.function" of each reward function
    std::vector<double> weights = {};          ///< one weight for each function
    std::optional<RolloutServer> server = {};  ///< without one, the run samples its completions itself
};

}  // namespace ringmaster
