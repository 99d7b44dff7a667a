#include "launcher/rows/placement.h"

#include <algorithm>

#include "engine/data/sampler.h"

namespace ringmaster {

namespace {

/// Returns the ranks of each data-parallel group. They are neighbours and share their rows.
std::vector<std::vector<int>> groups_of(const Plan& plan) {
    const int context = std::max(1, plan.context_parallel.size);
    std::vector<std::vector<int>> groups(static_cast<size_t>(std::max(1, plan.ranks / context)));
    for (size_t group = 0; group < groups.size(); ++group)
        for (int rank = 0; rank < context; ++rank)
            groups[group].push_back(static_cast<int>(group) * context + rank);
    return groups;
}

}  // namespace

Placement::Placement(const Plan& plan, int64_t rows)
    : position_(static_cast<size_t>(rows)),
      rows_per_step_(std::max<int64_t>(1, plan.batch.global)),
      micro_(std::max<int64_t>(1, plan.batch.micro)),
      groups_(groups_of(plan)) {
    if (rows == 0) return;
    Sampler sampler(rows, rows, plan.config.seed, plan.config.curriculum_sampling);
    const std::vector<int64_t> order = sampler.next_step();
    for (size_t at = 0; at < order.size(); ++at)
        position_[static_cast<size_t>(order[at])] = static_cast<uint32_t>(at);
}

RowPlace Placement::of(int64_t row) const {
    const int64_t at = position_[static_cast<size_t>(row)], in_step = at % rows_per_step_;
    const int64_t batch = in_step / micro_, groups = static_cast<int64_t>(groups_.size());
    return {at / rows_per_step_ + 1, batch / groups, groups_[static_cast<size_t>(batch % groups)]};
}

}  // namespace ringmaster
