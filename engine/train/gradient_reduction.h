/// Sums the gradients of all ranks while the backward still runs: each flat range is sent off once it is
/// final.
#pragma once

#include <vector>

#include "engine/comm/groups.h"
#include "engine/model/parameters.h"

namespace ringmaster {

class GradientReduction {
  public:
    GradientReduction(Groups& groups, Parameters& parameters) : groups_(groups), parameters_(parameters) {}

    /// Every rank starts the same ranges in the same order.
    void start(FlatRange range);
    /// For a rank without rows in this step: zeros in the order that a backward has.
    void start_zeros(int num_layers);
    void wait();

  private:
    Groups& groups_;
    Parameters& parameters_;
    std::vector<Transfer> transfers_;
};

}  // namespace ringmaster
