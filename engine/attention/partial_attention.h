/// Attention that grows by keys: what queries made of those seen so far, and the gradients that go back. One
/// face for the kernels of a device. On the CPU every sum stays in float32 until the end; CUDA's kernels
/// round each call's result to the inputs' dtype, and float32 is from there on.
///
/// Half precisions go by FlashAttention-2: all slices of a hop that one call can take, windows included
/// (flash_calls.h). float32 goes by the memory-efficient kernel, slice by slice.
///
/// Letters: B rows, H query heads, K key/value heads (H a multiple of K), T queries, S keys, D head_dim.
/// Tensors' last dim is contiguous, other strides are free.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

#include "engine/attention/block_attention.h"
#include "engine/attention/flash_tensors.h"
#include "engine/plan/slices.h"

namespace ringmaster {

/// Key/value heads [begin, begin + count), and the query heads that share them.
struct KeyHeads {
    int64_t begin = 0;
    int64_t count = 0;
    int64_t group = 1;  ///< query heads to each

    at::Tensor of_queries(const at::Tensor& x_bht) const {
        return x_bht.narrow(1, begin * group, count * group);
    }
};

class PartialAttention {
  public:
    explicit PartialAttention(const at::Tensor& q_bhtd, const ScoreRule& rule = {});
    /// k_bksd and v_bksd are of `heads` alone.
    void add(const at::Tensor& k_bksd, const at::Tensor& v_bksd, const KeyHeads& heads,
             const std::vector<Slice>& slices);
    /// out in the inputs' dtype, its memory in B T H D order. A query that saw nothing gets zeros, and minus
    /// infinity.
    FlashOutput finish();

  private:
    at::Tensor q_bhtd_;
    ScoreRule rule_;
    SoftmaxSums sums_;  // on CUDA values are divided already, and top is the log-sum-exp
};

class PartialGradients {
  public:
    /// `whole` is over all keys.
    PartialGradients(const at::Tensor& dout_bhtd, const at::Tensor& q_bhtd, const FlashOutput& whole,
                     const ScoreRule& rule = {});
    /// Adds the keys' part to dq, dk_bksd and dv_bksd, float32.
    void add(const at::Tensor& k_bksd, const at::Tensor& v_bksd, const KeyHeads& heads,
             const std::vector<Slice>& slices, const at::Tensor& dk_bksd, const at::Tensor& dv_bksd);
    const at::Tensor& dq_bhtd() const { return dq_bhtd_; }  ///< float32, memory in B T H D order

  private:
    at::Tensor dout_bhtd_, q_bhtd_, dq_bhtd_;
    FlashOutput whole_;
    ScoreRule rule_;
    at::Tensor delta_bht_;  // CPU: of dout · out
};

/// Attention over `slices` where one call of CUDA's kernels computes all of it: nothing is joined, and dq is
/// in the inputs' dtype. Nothing where it takes more than one, or on the CPU.
std::optional<FlashOutput> attention_in_one_call(const at::Tensor& q_bhtd, const at::Tensor& k_bksd,
                                                 const at::Tensor& v_bksd, const std::vector<Slice>& slices,
                                                 const ScoreRule& rule = {});
std::optional<FlashGradients> gradients_in_one_call(const at::Tensor& dout_bhtd, const at::Tensor& q_bhtd,
                                                    const at::Tensor& k_bksd, const at::Tensor& v_bksd,
                                                    const FlashOutput& whole,
                                                    const std::vector<Slice>& slices,
                                                    const ScoreRule& rule = {});

}  // namespace ringmaster
