/// Computes attention by a schedule. While one stage computes, the next stage's keys and values are in
/// flight; partial results are merged in float32. In the backward pass, the gradients of other ranks' keys
/// and values return to those ranks while the next stage computes. The owner of the keys adds them in
/// float32, in the order of the stages. Gradients travel in float32 if they are sums, and in the inputs'
/// dtype if one call of a kernel computed them.
///
/// Letters: B rows, H query heads, K key/value heads (H a multiple of K), T this rank's tokens, D head_dim.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "engine/attention/flash_tensors.h"
#include "engine/attention/held_keys.h"
#include "engine/attention/score_rule.h"
#include "engine/attention/sent_keys.h"
#include "engine/comm/groups.h"
#include "engine/layout/attention_schedule.h"

namespace ringmaster {

/// Returns out [B, H, T, D] in q's dtype, in B T H D memory order, and lse [B, H, T]. A query that sees
/// nothing gets zeros, and an lse of minus infinity. If `sent` is given, its vectors travel in place of keys
/// and values; it needs a schedule whose stages have all heads.
FlashOutput scheduled_forward(Group& ring, const AttentionSchedule& schedule, const at::Tensor& q_bhtd,
                              const KeysValues& own, const ScoreRule& rule = {}, SentKeys* sent = nullptr);

struct ScheduledGradients {
    at::Tensor dq_bhtd;  ///< float32 on the CPU; elsewhere the inputs' dtype
    KeysValues d_btkd;
    /// Gradients of the vectors sent in place of keys and values, [B, T, 1, W] float32. They hold only the
    /// part that other ranks computed; d_btkd has the other part. Undefined if no vectors were sent.
    at::Tensor vectors_bt1w;
};

/// Computes the gradients. `whole` is what the forward pass returned.
ScheduledGradients scheduled_backward(Group& ring, const AttentionSchedule& schedule,
                                      const at::Tensor& dout_bhtd, const at::Tensor& q_bhtd,
                                      const KeysValues& own, const FlashOutput& whole,
                                      const ScoreRule& rule = {}, SentKeys* sent = nullptr);

/// Computes attention of a chunk's queries: `passes` has a schedule for each chunk up to this one
/// (make_chunk_schedules), `held` the keys and values of the earlier chunks, and `own` those of this chunk.
FlashOutput chunk_forward(Group& ring, const std::vector<AttentionSchedule>& passes, const at::Tensor& q_bhtd,
                          const KeysValues& own, HeldKeys& held, const ScoreRule& rule = {});

/// Computes the gradients of a chunk; call it after the later chunks. The gradients of the chunk's own keys
/// and values are then final; those of earlier chunks are added to the sums in `held`.
ScheduledGradients chunk_backward(Group& ring, const std::vector<AttentionSchedule>& passes,
                                  const at::Tensor& dout_bhtd, const at::Tensor& q_bhtd,
                                  const KeysValues& own, HeldKeys& held, const FlashOutput& whole,
                                  const ScoreRule& rule = {});

}  // namespace ringmaster
