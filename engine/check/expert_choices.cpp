#include "engine/check/expert_choices.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "engine/train/program_fault.h"
#include "engine/train/rank_agreement.h"

namespace ringmaster {

ExpertChoices::ExpertChoices(std::vector<std::pair<int64_t, int64_t>> place_and_row, at::Tensor chosen_ltk)
    : worst_(at::zeros({}, chosen_ltk.options().dtype(at::kDouble))) {
    std::sort(place_and_row.begin(), place_and_row.end());
    const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
    place_and_row.erase(std::unique(place_and_row.begin(), place_and_row.end(), same), place_and_row.end());
    std::vector<int64_t> places, rows;
    for (const auto& [place, row] : place_and_row) {
        places.push_back(place);
        rows.push_back(row);
    }
    places_t_ = at::tensor(places, at::kLong).to(chosen_ltk.device());
    chosen_ltk_ = chosen_ltk.index_select(1, at::tensor(rows, at::kLong).to(chosen_ltk.device()));
}

at::Tensor ExpertChoices::choose(int layer, const at::Tensor& places_n, const ExpertRanks& ranks,
                                 const at::Tensor& own_nk) {
    const at::Tensor rows_n = at::searchsorted(places_t_, places_n).clamp_max_(places_t_.size(0) - 1);
    const at::Tensor known_n1 = places_t_.index_select(0, rows_n).eq(places_n).unsqueeze(1);
    const at::Tensor chosen_nk = at::where(known_n1, chosen_ltk_[layer].index_select(0, rows_n), own_nk);
    if (chosen_nk.size(0) == 0 || chosen_nk.size(1) == ranks.scores_ne.size(1)) return chosen_nk;
    for (const at::Tensor& some_nk : {chosen_nk, own_nk})
        worst_ = at::maximum(worst_, excess_left_out(ranks, some_nk).max().to(at::kDouble));
    return chosen_nk;
}

void ExpertChoices::check(Groups& groups, double share) {
    const double worst = largest_of_ranks(groups, worst_.item<double>());
    worst_.zero_();
    if (!(worst <= share))
        throw ProgramFault("the mesh chooses other experts than one rank would: it leaves out one that is " +
                           std::to_string(100 * worst) + " % more probable than a chosen one");
}

}  // namespace ringmaster
