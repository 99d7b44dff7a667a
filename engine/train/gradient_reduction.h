/// Sums the gradients of all ranks while the backward runs: each unit is sent when its gradients are final.
///
/// Without sharded states, gradients are all-reduced in place. With sharded states, they are reduce-scattered
/// over the shard group into this rank's slice, which is then all-reduced over the replicas; for experts,
/// only the ranks of a part take part in the reduce-scatter, because they received the tokens of all ranks.
/// At stage 1 the micro-batches of a step are summed here before sending; from stage 2 on, each micro-batch's
/// gradients are sent and added to the slice. Gradients that are kept in host memory leave the device in each
/// micro-batch, after all of these reductions.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "engine/comm/groups.h"
#include "engine/model/parameters.h"

namespace ringmaster {

class GradientReduction {
  public:
    GradientReduction(Groups& groups, Parameters& parameters) : groups_(groups), parameters_(parameters) {}

    /// Says whether the next micro-batch is the first or the last of its step.
    void begin_micro_batch(bool first, bool last);
    /// Starts to reduce a unit, with the units of its experts; every rank must start the same units in the
    /// same order.
    void start(int unit);
    /// Computes the same sums by one all-reduce over all ranks, as a check of the first method. For sharded
    /// gradients only.
    void start_plainly(int unit);
    /// Sends zeros for all units, in the order of a backward pass, from a rank without rows in this step. For
    /// unsharded gradients only.
    void start_zeros();
    void wait();  ///< returns after every started sum has arrived, in host memory too

  private:
    /// A unit whose reduction into this rank's slice has not finished.
    struct Pending {
        int unit;
        at::Tensor slice;
        Transfer transfer;
        bool first, last;
    };
    void start_one(int unit);
    void start_taken(int unit);
    void start_one_plainly(int unit);
    std::string what_of(int unit) const;
    void follow(int unit, at::Tensor slice, Transfer transfer);
    void finish_oldest();

    Groups& groups_;
    Parameters& parameters_;
    bool first_ = true, last_ = true;
    std::deque<Pending> pending_;
    std::vector<Transfer> transfers_;
};

}  // namespace ringmaster
