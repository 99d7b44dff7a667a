/// Says how a mixture's router scores experts, and how it chooses some of them.
#pragma once

#include <cstdint>

namespace ringmaster {

struct RouterRule {
    bool sigmoid = false;  ///< an expert's score is the sigmoid of its logit; else a softmax gives all scores
    bool corrects = false;    ///< a bias that is not trained is added to the scores, only for the choice
    bool in_float32 = false;  ///< logits are float32 products, whatever the weights' dtype
    /// Experts are chosen from the best `chosen_groups` of this many groups. A group is as good as the sum of
    /// its `best_of_group` best experts.
    int64_t groups = 1, chosen_groups = 1, best_of_group = 1;
    double least_sum = 1e-20;  ///< added to the sum by which the weights of a token's experts are divided
    double scale = 1;          ///< multiplies the weights of a token's experts
    bool norms_input = false;  ///< it reads a separate norm of the layer's hidden states, times hidden^-1/2
    bool scales_experts = false;  ///< each expert has a trained factor of its weights
    bool has_loss = true;         ///< the model's class has a loss that balances experts
};

}  // namespace ringmaster
