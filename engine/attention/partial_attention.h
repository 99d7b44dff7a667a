/// Accumulates attention over keys, some at a time: outputs in the forward pass, gradients in the backward
/// pass. Callers need not know which kernels compute; engine/plan/attention_kernels.h chooses them. The CPU's
/// kernels, and on a GPU those of models that cap their scores, add to float32 sums until the end. LibTorch's
/// CUDA kernels round each call's result to the inputs' dtype, and the sums of these results are float32
/// (part_sums.h).
///
/// On a GPU, half precisions use FlashAttention-2: one call takes as many slices of a hop as it can, windows
/// included (flash_calls.h). float32 uses the memory-efficient kernel, slice by slice. Capped scores use
/// score_block_attention.h.
///
/// Letters: B rows, H query heads, K key/value heads (H a multiple of K), T queries, S keys, D head_dim.
/// Tensors' last dim is contiguous, other strides are free.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

#include "engine/attention/block_attention.h"
#include "engine/attention/flash_tensors.h"
#include "engine/attention/part_sums.h"
#include "engine/layout/slices.h"
#include "engine/plan/attention_kernels.h"

namespace ringmaster {

/// The key/value heads [begin, begin + count), and the query heads that share them.
struct KeyHeads {
    int64_t begin = 0;
    int64_t count = 0;
    int64_t group = 1;  ///< query heads per key/value head

    at::Tensor of_queries(const at::Tensor& x_bht) const {
        return x_bht.narrow(1, begin * group, count * group);
    }
};

/// Returns true if PartialGradients::add creates the gradients of keys like k, because their kernel returns
/// rounded results and one call computes all of them (Stage::one_call).
bool makes_gradients(const at::Tensor& k, const ScoreRule& rule, bool one_call);

class PartialAttention {
  public:
    explicit PartialAttention(const at::Tensor& q_bhtd, const ScoreRule& rule = {});
    /// Adds keys; k_bksd and v_bksd hold only the heads in `heads`.
    void add(const at::Tensor& k_bksd, const at::Tensor& v_bksd, const KeyHeads& heads,
             const std::vector<Slice>& slices);
    /// Returns out in the inputs' dtype, in B T H D memory order. A query that saw nothing gets zeros, and an
    /// lse of minus infinity.
    FlashOutput finish();

  private:
    at::Tensor q_bhtd_;
    ScoreRule rule_;
    AttentionFamily family_;
    SoftmaxSums sums_;               // used by families that keep sums
    std::optional<PartSums> parts_;  // used by the other families
};

class PartialGradients {
  public:
    /// Starts from zero gradients. `whole` is the output over all keys.
    PartialGradients(const at::Tensor& dout_bhtd, const at::Tensor& q_bhtd, const FlashOutput& whole,
                     const ScoreRule& rule = {});
    /// Adds the gradients of these keys to dq and to `d`; makes the tensors of `d` if it holds none.
    void add(const at::Tensor& k_bksd, const at::Tensor& v_bksd, const KeyHeads& heads,
             const std::vector<Slice>& slices, KeyGradients& d);
    /// Returns dq in B T H D memory order: float32 on the CPU, elsewhere in the inputs' dtype.
    at::Tensor finish();

  private:
    at::Tensor dout_bhtd_, q_bhtd_;
    FlashOutput whole_;
    ScoreRule rule_;
    AttentionFamily family_;
    // Used by families that keep sums; delta_bht_ holds row sums of dout · out.
    at::Tensor dq_bhtd_, delta_bht_;
    std::optional<PartSums> parts_;  // used by the other families
};

/// Returns attention over `slices` if one call of LibTorch's CUDA kernels computes all of it: nothing is
/// merged, and dq has the inputs' dtype. Returns nullopt for kernels that keep sums, or if several calls are
/// needed. The gradients may be written to the memory of q, k and v.
std::optional<FlashOutput> attention_in_one_call(const at::Tensor& q_bhtd, const at::Tensor& k_bksd,
                                                 const at::Tensor& v_bksd, const std::vector<Slice>& slices,
                                                 const ScoreRule& rule = {});
std::optional<FlashGradients> gradients_in_one_call(const at::Tensor& dout_bhtd, const at::Tensor& q_bhtd,
                                                    const at::Tensor& k_bksd, const at::Tensor& v_bksd,
                                                    const FlashOutput& whole,
                                                    const std::vector<Slice>& slices,
                                                    const ScoreRule& rule = {});

}  // namespace ringmaster
