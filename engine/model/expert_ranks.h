/// Scores a mixture's experts for each token and chooses the best ones.
///
/// Letters: N tokens, E experts, G groups of experts, K experts of a token.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "engine/families/router_rule.h"

namespace ringmaster {

struct ExpertRanks {
    at::Tensor scores_ne;  ///< softmax or sigmoids of the router's logits
    at::Tensor ranked_ne;  ///< scores plus the correction; the same tensor if there is no correction
    at::Tensor groups_ng;  ///< undefined if all experts are one group
    int64_t chosen_groups = 1;

    bool is_corrected() const { return !ranked_ne.is_same(scores_ne); }
};

/// Returns the scores by which experts are chosen. `correction_e` is undefined if the rule has no correction.
ExpertRanks rank_experts(const at::Tensor& scores_ne, const RouterRule& rule, const at::Tensor& correction_e);

/// Returns the experts that the rule chooses, int64 [N, K].
at::Tensor best_experts(const ExpertRanks& ranks, int64_t per_token);

/// Returns, for each token, how far the best expert (or group) that was not chosen exceeds the worst chosen
/// one, relative to a score. The result is at most 0 if the choice follows the rule.
at::Tensor excess_left_out(const ExpertRanks& ranks, const at::Tensor& chosen_nk);

}  // namespace ringmaster
