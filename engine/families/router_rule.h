/// Describes how a mixture's router scores experts, and how it chooses some of them.
#pragma once

#include <cstdint>

namespace ringmaster {

struct RouterRule {
    bool sigmoid = false;     ///< scores are sigmoids of the logits instead of a softmax
    bool corrects = false;    ///< an untrained bias is added to the scores, only to choose experts
    bool in_float32 = false;  ///< logits are computed in float32, regardless of the weights' dtype
    /// Experts are chosen from the best `chosen_groups` of `groups` groups. A group's score is the sum of the
    /// scores of its `best_of_group` best experts.
    int64_t groups = 1, chosen_groups = 1, best_of_group = 1;
    double least_sum = 1e-20;  ///< added to the sum by which the weights of a token's experts are divided
    double scale = 1;          ///< multiplies the weights of a token's experts
    /// If true, the router reads a separate norm of the layer's hidden states, times hidden^-1/2.
    bool norms_input = false;
    bool scales_experts = false;  ///< each expert has a trained factor that multiplies its weights
    bool has_loss = true;         ///< the model's class has a loss that balances experts
};

}  // namespace ringmaster
