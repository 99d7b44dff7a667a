/// Describes the tokens that experts receive if they are divided among ranks (expert_parallel_size).
#pragma once

#include <optional>

#include "engine/plan/plan.h"

namespace ringmaster {

/// Counts the tokens that one rank's experts receive in a layer and micro-batch; a token counts once for each
/// of its experts. `level` assumes that the router spreads tokens evenly. Experts have no capacity limit, so
/// in the worst case every token of the expert group chooses experts of one rank.
struct ReceivedTokens {
    int64_t level = 0, worst = 0;
};

/// Returns nothing without expert parallelism, or if the length of a rank's part is unknown.
std::optional<ReceivedTokens> received_tokens(const Plan& plan);

/// Returns the elements of all experts of a model with a single layer.
int64_t expert_elements(const ModelConfig& one);

}  // namespace ringmaster
