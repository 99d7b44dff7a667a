/// A hop's slices by the fewest calls of a flash kernel (flash_calls.h), each query's keys in one of them.
/// Which kernel that is, is the caller's: CUDA's (cuda_flash.h), or in tests plain matrix products.
///
/// Letters: B rows, H query heads, K key/value heads (H a multiple of K), T queries, S keys, D head_dim;
/// N and M queries and keys of a call, packed.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <optional>
#include <vector>

#include "engine/attention/flash_tensors.h"
#include "engine/plan/flash_calls.h"

namespace ringmaster {

/// One call. Dense, x are [B, T or S, H or K, D] and all rows are one segment each; packed, [N or M, H or K,
/// D] and cu_seqlens, int32 on the tensors' device, say where each segment ends. Last dim contiguous.
struct FlashInputs {
    at::Tensor q, k, v;
    at::Tensor query_ends, key_ends;  ///< undefined: dense
    int64_t most_queries = 0, most_keys = 0;
    FlashWindow window;
    double scale = 0;  ///< of the scores; 0: D^-1/2

    bool packed() const { return query_ends.defined(); }
};

/// As the inputs lie: out and dq as q, dk and dv as k; lse float32 [B, H, T], packed [H, N], natural log. A
/// query that sees no key gets zeros, and an infinite lse of either sign.
struct FlashKernel {
    struct Output {
        at::Tensor out, lse;
    };
    struct Gradients {
        at::Tensor dq, dk, dv;
    };
    std::function<Output(const FlashInputs&)> forward;
    /// out and lse are over *all* keys, lse contiguous.
    std::function<Gradients(const FlashInputs&, const at::Tensor& dout, const Output& whole)> backward;
    /// A backward takes more queries in blocks of that many. Unset: any number at once.
    std::function<int64_t(const at::Tensor& q_bhtd)> queries_at_once = {};
    /// The device's, if the backward keeps a fixed order and so fills them badly unless it is cut by
    /// flash_shares(). Unset or 0: one launch a call.
    std::function<int64_t(const at::Tensor& q_bhtd)> multiprocessors = {};
};

/// Joins what q sees of the keys to out_bhtd and lse_bht, float32 (merge.h).
void packed_forward(const FlashKernel& kernel, const at::Tensor& out_bhtd, const at::Tensor& lse_bht,
                    const at::Tensor& q_bhtd, const at::Tensor& k_bksd, const at::Tensor& v_bksd,
                    const std::vector<Slice>& slices);

/// Adds to the gradients, float32. `whole` is over all keys.
void packed_backward(const FlashKernel& kernel, const FlashGradients& sums, const at::Tensor& dout_bhtd,
                     const at::Tensor& q_bhtd, const at::Tensor& k_bksd, const at::Tensor& v_bksd,
                     const FlashOutput& whole, const std::vector<Slice>& slices);

/// The same where one call does: what it gives of all queries and keys, padding that sees nothing included,
/// in the inputs' dtype, with nothing to be joined. Nothing where it takes more.
std::optional<FlashOutput> one_call_forward(const FlashKernel& kernel, const at::Tensor& q_bhtd,
                                            const at::Tensor& k_bksd, const at::Tensor& v_bksd,
                                            const std::vector<Slice>& slices);
std::optional<FlashGradients> one_call_backward(const FlashKernel& kernel, const at::Tensor& dout_bhtd,
                                                const at::Tensor& q_bhtd, const at::Tensor& k_bksd,
                                                const at::Tensor& v_bksd, const FlashOutput& whole,
                                                const std::vector<Slice>& slices);

}  // namespace ringmaster
