/// Computes when a row is trained on, and by which ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/plan/plan.h"

namespace ringmaster {

struct RowPlace {
    int64_t step = 0;         ///< counts from 1, in the first epoch
    int64_t micro_batch = 0;  ///< counts from 0 in each step, for the row's group
    std::vector<int> ranks;   ///< ranks that share the row's tokens
};

class Placement {
  public:
    /// Computes the first epoch's order of `rows` rows under the plan, with the engine's sampler.
    Placement(const Plan& plan, int64_t rows);

    RowPlace of(int64_t row) const;

  private:
    std::vector<uint32_t> position_;  ///< row i is the position_[i]-th of the epoch
    int64_t rows_per_step_ = 1, micro_ = 1;
    std::vector<std::vector<int>> groups_;  ///< ranks of each data-parallel group
};

}  // namespace ringmaster
