/// Collects the results of attention kernels, each over some of the keys, and joins several at a time, as
/// engine/layout/part_joins.h decides.
///
/// Letters: B rows, H heads, T queries, D head_dim.
#pragma once

#include <ATen/core/Tensor.h>

#include <utility>
#include <vector>

#include "engine/attention/flash_tensors.h"
#include "engine/attention/merge.h"
#include "engine/layout/part_joins.h"

namespace ringmaster {

class PartSums {
  public:
    enum class Kind { Outputs, Gradients };  ///< outputs are joined by their log-sum-exps, gradients added

    /// `like_bhtd` has the shape and dtype of the whole result.
    PartSums(const at::Tensor& like_bhtd, Kind kind);
    /// Holds at most `most_held` parts that wait to be joined.
    PartSums(const at::Tensor& like_bhtd, Kind kind, int64_t most_held);

    /// Begins with a float32 sum [B, T, H, D] of gradients in place of zeros, and adds to it in place.
    void begin_with(at::Tensor sum_bthd) { sum_bthd_ = std::move(sum_bthd); }
    /// Takes a part and keeps its memory until the part is joined. A part whose dtype differs from the
    /// result's is joined at once.
    void add(AttentionPart part);
    /// Joins the held parts and returns the float32 sum [B, T, H, D], to which a caller may add.
    at::Tensor sum();

    /// Returns the result [B, H, T, D] in the inputs' dtype, in B T H D memory order. Rows without a part are
    /// zeros, with an lse of −infinity. The lse is undefined for gradients.
    FlashOutput finish();

  private:
    void join(const at::Tensor& whole_bthd);
    void join_held();

    at::Tensor like_bhtd_;
    at::Tensor sum_bthd_, lse_bht_;  // float32; the sum is undefined until parts are joined
    std::vector<AttentionPart> held_;
    PartJoins joins_;
};

}  // namespace ringmaster
