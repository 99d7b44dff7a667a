/// Collects the results of CUDA's attention kernels over some keys each, and joins several at a time. A part
/// has 2 bytes per element and the sum 4, so most bytes of a joining are the sum's. For eight parts, a sum
/// that starts from zeros, takes them one by one and is rounded at the end moves 90 bytes per element; four
/// at a time, with no zeros and the last four rounded at once, 26.
///
/// Letters: B rows, H heads, T queries, D head_dim.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "engine/attention/flash_tensors.h"
#include "engine/attention/merge.h"

namespace ringmaster {

class PartSums {
  public:
    enum class Kind { Outputs, Gradients };  ///< outputs are joined by their log-sum-exps, gradients added

    /// `like_bhtd` has the shape and dtype of the whole result.
    PartSums(const at::Tensor& like_bhtd, Kind kind);

    /// Takes a part and keeps its memory until it is joined: at most parts_held() parts (flash_blocks.h).
    void add(AttentionPart part);

    /// Returns the result [B, H, T, D] in the inputs' dtype, in B T H D memory order. Rows without a part are
    /// zeros, with an lse of −infinity. The lse is undefined for gradients.
    FlashOutput finish();

  private:
    void join(const at::Tensor& whole_bthd);

    at::Tensor like_bhtd_;
    at::Tensor sum_bthd_, lse_bht_;  // float32; the sum is undefined until parts are joined
    std::vector<AttentionPart> held_;
    size_t most_held_;
};

}  // namespace ringmaster
