/// When a row is trained on, and by which ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/plan/plan.h"

namespace ringmaster {

struct RowPlace {
    int64_t step = 0;         ///< Steps count from 1; this is one of the first epoch.
    int64_t micro_batch = 0;  ///< Micro-batches of a group count from 0 in each step.
    std::vector<int> ranks;   ///< These ranks share the row's tokens.
};

class Placement {
  public:
    /// The first epoch's order of `rows` rows under the plan: the sampler that the engine uses.
    Placement(const Plan& plan, int64_t rows);

    RowPlace of(int64_t row) const;

  private:
    std::vector<uint32_t> position_;  ///< Row i is the position_[i]-th of the epoch.
    int64_t rows_per_step_ = 1, micro_ = 1;
    std::vector<std::vector<int>> groups_;  ///< Each holds the ranks of a data-parallel group.
};

}  // namespace ringmaster
