/// Sends tokens to the ranks that compute their experts, and the results back, if the experts are divided
/// among ranks (Lepikhin et al. 2020, "GShard"). Every token reaches all of its experts, because experts have
/// no capacity limit.
///
/// A rank's M rows are pairs of a token and one of its experts, sorted by expert (engine/model/expert_ops.h).
/// The rank receives R rows for its own experts, from all ranks of the group, and sorts them by expert;
/// within an expert they keep the order of ranks and rows. All ranks of the group make the same calls in the
/// same order.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "engine/comm/groups.h"
#include "engine/model/expert_ops.h"

namespace ringmaster {

class ExpertExchange {
  public:
    /// Tells the other ranks how many rows each of their experts gets. Rank p of the group computes experts
    /// [p · E / ranks, (p + 1) · E / ranks); `begins` is Routing::begins. The rows are on `device`.
    ExpertExchange(Group group, const std::vector<int64_t>& begins, at::Device device);

    /// Returns the rows for this rank's experts, [R, width], from all ranks' rows [M, width].
    at::Tensor to_experts(at::Tensor rows_mw, const char* what) const;
    /// Returns the results for this rank's rows, [M, width], given the results of this rank's experts, [R,
    /// width].
    at::Tensor from_experts(at::Tensor rows_rw, const char* what) const;

    /// Returns a routing that describes the rows of this rank's experts; only its `begins` is set.
    const Routing& here() const { return here_; }

  private:
    mutable Group group_;
    std::vector<int64_t> sent_, received_;  ///< rows to and from each rank
    /// int64: the place of each sorted row in the order of arrival, and the inverse permutation. Both are
    /// undefined if rows arrive sorted.
    at::Tensor sorted_r_, arrived_r_;
    Routing here_;
};

}  // namespace ringmaster
