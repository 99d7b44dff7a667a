/// Computes the slices of a ring's hop with as few calls of a flash kernel as possible (flash_calls.h); all
/// of a query's keys are in one call. The caller chooses the kernel: CUDA's (cuda_flash.h), or in tests plain
/// matrix products.
///
/// Letters: B rows, H query heads, K key/value heads (H a multiple of K), T queries, S keys, D head_dim; N
/// and M queries and keys of a call, packed.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <optional>
#include <vector>

#include "engine/attention/flash_tensors.h"
#include "engine/attention/part_sums.h"
#include "engine/layout/flash_calls.h"

namespace ringmaster {

/// Holds one call's inputs. Dense: [B, T or S, H or K, D], each row one segment. Packed: [N or M, H or K, D];
/// query_ends and key_ends (cu_seqlens, int32 on the same device) give each segment's end. The last dim is
/// contiguous.
struct FlashInputs {
    at::Tensor q, k, v;
    at::Tensor query_ends, key_ends;  ///< undefined if dense
    int64_t most_queries = 0, most_keys = 0;
    FlashWindow window;
    double scale = 0;  ///< factor of the scores; 0 means D^-1/2

    bool packed() const { return query_ends.defined(); }
};

/// Results have the inputs' layout: out and dq that of q, dk and dv that of k. lse is float32 [B, H, T],
/// packed [H, N], natural log. A query that sees no key gets zeros, and an infinite lse of either sign.
struct FlashKernel {
    struct Output {
        at::Tensor out, lse;
    };
    struct Gradients {
        at::Tensor dq, dk, dv;
    };
    std::function<Output(const FlashInputs&)> forward;
    /// Computes gradients from out and lse over *all* keys; lse is contiguous.
    std::function<Gradients(const FlashInputs&, const at::Tensor& dout, const Output& whole)> backward;
    /// Returns how many queries a backward launch takes at once; more queries are computed in blocks. If
    /// unset, a launch takes any number.
    std::function<int64_t(const at::Tensor& q_bhtd)> queries_at_once = {};
    /// Returns how many query heads a backward launch takes. If unset, a launch takes all heads.
    std::function<int64_t(const at::Tensor& q_bhtd, int64_t group)> heads_at_once = {};
    /// Returns the number of the device's multiprocessors if the backward pass adds in a fixed order, which
    /// leaves many of them idle unless flash_shares() splits it. If it is unset or returns 0, each call is
    /// one launch.
    std::function<int64_t(const at::Tensor& q_bhtd)> multiprocessors = {};
};

/// Collects the outputs or gradients of the query heads from `first_head` on.
struct PartsOfHeads {
    PartSums& sums;
    int64_t first_head = 0;
};

/// Adds the attention over the keys that q sees to `out`.
void packed_forward(const FlashKernel& kernel, const PartsOfHeads& out, const at::Tensor& q_bhtd,
                    const at::Tensor& k_bksd, const at::Tensor& v_bksd, const std::vector<Slice>& slices);

/// Adds the gradients to `dq` and `keys`; sets the tensors of `keys` that hold nothing yet. `whole` is the
/// result over all keys.
void packed_backward(const FlashKernel& kernel, const PartsOfHeads& dq, KeyGradients& keys,
                     const at::Tensor& dout_bhtd, const at::Tensor& q_bhtd, const at::Tensor& k_bksd,
                     const at::Tensor& v_bksd, const FlashOutput& whole, const std::vector<Slice>& slices);

/// Returns the attention of all queries in the inputs' dtype, without a merge, if one call of the kernel
/// computes it. The result includes padding, which sees nothing. Returns nullopt if the kernel needs several
/// calls.
std::optional<FlashOutput> one_call_forward(const FlashKernel& kernel, const at::Tensor& q_bhtd,
                                            const at::Tensor& k_bksd, const at::Tensor& v_bksd,
                                            const std::vector<Slice>& slices);
/// Returns the gradients if one call computes all slices, else nullopt. If `overwrites` is set, the gradients
/// may be written over q, k and v.
std::optional<FlashGradients> one_call_backward(const FlashKernel& kernel, const at::Tensor& dout_bhtd,
                                                const at::Tensor& q_bhtd, const at::Tensor& k_bksd,
                                                const at::Tensor& v_bksd, const FlashOutput& whole,
                                                const std::vector<Slice>& slices, bool overwrites = false);

}  // namespace ringmaster
