/// Sums the gradients of all ranks while the backward still runs: each unit is sent off once it is final.
///
/// Whole states: all-reduced in place. Sharded: reduce-scattered over the shard group into this rank's slice,
/// and that all-reduced over the replicas. At stage 1 a step's micro-batches are summed here before they are
/// sent; from stage 2 on each is sent, and added to the slice.
#pragma once

#include <deque>
#include <vector>

#include "engine/comm/groups.h"
#include "engine/model/parameters.h"

namespace ringmaster {

class GradientReduction {
  public:
    GradientReduction(Groups& groups, Parameters& parameters) : groups_(groups), parameters_(parameters) {}

    /// Whether the micro-batch that comes is a step's first, or its last.
    void begin_micro_batch(bool first, bool last);
    /// Every rank starts the same units in the same order.
    void start(int unit);
    /// The same sums by one all-reduce over all ranks: another way, to prove the first by. Sharded gradients
    /// only.
    void start_plainly(int unit);
    /// For a rank without rows in this step: zeros in the order that a backward has. Whole gradients only.
    void start_zeros();
    void wait();

  private:
    /// A unit on its way into the slice.
    struct Pending {
        int unit;
        at::Tensor slice;
        Transfer transfer;
        bool last;
    };
    void follow(int unit, at::Tensor slice, Transfer transfer);
    void finish_oldest();

    Groups& groups_;
    Parameters& parameters_;
    bool first_ = true, last_ = true;
    std::deque<Pending> pending_;
    std::vector<Transfer> transfers_;
};

}  // namespace ringmaster
