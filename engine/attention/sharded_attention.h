/// Computes attention over a mesh: a flash kernel runs over slices, and partial results merge by log-sum-exp
/// in fp32. Keys and values travel round a ring or are gathered a few heads at a time; Ulysses exchanges
/// heads by an all-to-all; with both, the all-to-all runs inside the ring. The result is exact for every
/// layout, documents and window.
///
/// Letters: B rows, H query heads, K key/value heads (H a multiple of K), T this rank's tokens, D head_dim.
/// Source: Liu et al. 2023, "Ring Attention with Blockwise Transformers", section 3; the backward pass of a
/// block takes the global out and lse (Dao 2023, "FlashAttention-2", section 3.1.2).
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "engine/attention/held_keys.h"
#include "engine/attention/score_rule.h"
#include "engine/attention/sent_keys.h"
#include "engine/comm/groups.h"
#include "engine/layout/attention_mask.h"
#include "engine/layout/layout.h"

namespace ringmaster {

struct AttentionOutput {
    /// Keeps a Ulysses rank's inputs to attention for the backward pass; undefined without Ulysses. S are the
    /// group's tokens, h and k the heads that the rank owns.
    struct OfOwnHeads {
        at::Tensor q_bhsd, keys_values_s2bkd, out_bhsd;
        int64_t key_heads = 0;  ///< number of key heads of all ranks

        KeysValues keys_values() const;  ///< views [B, S, k, D]
    };
    /// Returns true if the backward pass reads `by_heads` only, and does not need out_bthd, q, k and v.
    bool is_by_heads() const { return by_heads.q_bhsd.defined(); }

    at::Tensor out_bthd;  ///< [B, T, H, D], the inputs' dtype
    /// float32, natural log, including the sinks: [B, H, T]; with Ulysses, for this rank's heads: [B, h, S].
    at::Tensor lse_bht;
    OfOwnHeads by_heads;
};

struct AttentionGradients {
    at::Tensor dq_bthd;  ///< [B, T, H, D], in the inputs' dtype, or in float32 before rounding
    at::Tensor dk_btkd;
    at::Tensor dv_btkd;
    at::Tensor dsinks_h;      ///< float32, over this rank's queries only; undefined without sinks
    at::Tensor vectors_bt1w;  ///< as in ScheduledGradients
};

class ShardedAttention {
  public:
    struct Impl;
    /// Derives the slices once. `layout` divides one sequence over the context-parallel ranks of
    /// groups.mesh(). If `gathered_heads` is above 0, ranks gather keys and values for that many heads at a
    /// time, which needs ranks with ascending positions (batch_ring, varlen_llama3). If it is 0, keys and
    /// values go round the ring. If the layout has chunks, they are computed one after the other, and heads
    /// are not gathered.
    ShardedAttention(Groups& groups, const Layout& layout, const AttentionMask& mask = {},
                     int64_t gathered_heads = 0, const ScoreRule& rule = {});
    ~ShardedAttention();

    /// Returns the mask's cells that this rank's ring rank computes; its Ulysses group divides them by heads.
    int64_t cells() const;

    /// Takes q_bthd [B, T, H, D], k_btkd and v_btkd [B, T, K, D], float32 or bfloat16, after the rotary
    /// embedding; last dim contiguous, other strides free. Throws Error(Refused) if there are fewer heads
    /// than Ulysses ranks, or a peer is gone. `sinks_h`, if defined, holds one logit per head that joins the
    /// softmax of every query (engine/attention/sinks.h). If `sent` is given, its vectors go round the ring
    /// in place of keys and values; `sent` cannot be combined with Ulysses or gathered heads.
    AttentionOutput forward(const at::Tensor& q_bthd, const at::Tensor& k_btkd, const at::Tensor& v_btkd,
                            const at::Tensor& sinks_h = {}, SentKeys* sent = nullptr);
    /// Frees dout_bthd and `output` as soon as it has read them. On a GPU the gradients may be in the memory
    /// of q, k and v, which Ulysses ranks need not pass.
    AttentionGradients backward(at::Tensor dout_bthd, const at::Tensor& q_bthd, const at::Tensor& k_btkd,
                                const at::Tensor& v_btkd, AttentionOutput output,
                                const at::Tensor& sinks_h = {}, SentKeys* sent = nullptr);

    /// Returns a chunk's keys and values in the form in which later chunks read them from `held`. With
    /// Ulysses, the result has only this rank's heads, for all tokens of the group. Every rank of the group
    /// must call it.
    KeysValues held_form(size_t chunk, const KeysValues& own, int64_t query_heads) const;

    /// Compute the same as forward and backward for one chunk of the tokens. `held` has the keys and values
    /// of the earlier chunks, in their held form, and receives the sums of their gradients.
    AttentionOutput chunk_forward(size_t chunk, const at::Tensor& q_bthd, const KeysValues& own,
                                  HeldKeys& held, const at::Tensor& sinks_h = {});
    AttentionGradients chunk_backward(size_t chunk, at::Tensor dout_bthd, const at::Tensor& q_bthd,
                                      const KeysValues& own, HeldKeys& held, AttentionOutput output,
                                      const at::Tensor& sinks_h = {});

  private:
    std::unique_ptr<Impl> impl_;
};

}  // namespace ringmaster
