#include "engine/model/expert_ranks.h"

#include <ATen/ATen.h>

#include <limits>

namespace ringmaster {

namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

/// Repeats each group's value for each of its experts.
at::Tensor of_experts(const at::Tensor& values_ng, int64_t experts) {
    return values_ng.repeat_interleave(experts / values_ng.size(1), 1);
}

/// Returns the ranked scores of experts in groups whose score is at least `least_n1`; -inf for the other
/// experts.
at::Tensor ranked_in(const ExpertRanks& ranks, const at::Tensor& least_n1) {
    const at::Tensor is_worse_ng = ranks.groups_ng.lt(least_n1);
    return ranks.ranked_ne.masked_fill(of_experts(is_worse_ng, ranks.ranked_ne.size(1)), kNever);
}

at::Tensor least_chosen_group(const ExpertRanks& ranks) {
    return std::get<0>(ranks.groups_ng.topk(ranks.chosen_groups, 1)).amin(1, true);
}

}  // namespace

ExpertRanks rank_experts(const at::Tensor& scores_ne, const RouterRule& rule,
                         const at::Tensor& correction_e) {
    ExpertRanks ranks{scores_ne, scores_ne, {}, rule.chosen_groups};
    if (correction_e.defined()) ranks.ranked_ne = scores_ne + correction_e;
    if (rule.groups > 1)
        ranks.groups_ng =
            std::get<0>(ranks.ranked_ne.unflatten(1, {rule.groups, -1}).topk(rule.best_of_group, 2)).sum(2);
    return ranks;
}

at::Tensor best_experts(const ExpertRanks& ranks, int64_t per_token) {
    if (!ranks.groups_ng.defined()) return std::get<1>(ranks.ranked_ne.topk(per_token, 1));
    return std::get<1>(ranked_in(ranks, least_chosen_group(ranks)).topk(per_token, 1));
}

at::Tensor excess_left_out(const ExpertRanks& ranks, const at::Tensor& chosen_nk) {
    at::Tensor others_ne = ranks.ranked_ne, excess_n;
    if (ranks.groups_ng.defined()) {
        const int64_t of_group = ranks.ranked_ne.size(1) / ranks.groups_ng.size(1);
        const at::Tensor chosen_groups_nk = at::div(chosen_nk, of_group, "floor");
        const at::Tensor least_n1 = ranks.groups_ng.gather(1, chosen_groups_nk).amin(1, true);
        others_ne = ranked_in(ranks, least_n1);
        excess_n = ((least_chosen_group(ranks) - least_n1) / ranks.scores_ne.amax(1, true)).squeeze(1);
    }
    const auto [left_out_n, at_n] = others_ne.scatter(1, chosen_nk, kNever).max(1);
    const auto [least_n, slot_n] = ranks.ranked_ne.gather(1, chosen_nk).min(1);
    at::Tensor scale_n = ranks.scores_ne.gather(1, chosen_nk.gather(1, slot_n.unsqueeze(1))).squeeze(1);
    if (ranks.is_corrected())  // scores before the correction decide the rounding error
        scale_n = at::maximum(scale_n, ranks.scores_ne.gather(1, at_n.unsqueeze(1)).squeeze(1));
    const at::Tensor of_experts_n = (left_out_n - least_n) / scale_n;
    return excess_n.defined() ? at::maximum(excess_n, of_experts_n) : of_experts_n;
}

}  // namespace ringmaster
