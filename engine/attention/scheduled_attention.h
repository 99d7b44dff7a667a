/// Attention by a schedule: the next stage's keys and values are under way while a stage computes, partial
/// results are joined in float32; in the backward the gradients of keys and values that
/// came from others go straight home, in float32, while the next stage computes, and are added there in the
/// order of the stages. Forward beside backward.
///
/// Letters: B rows, H query heads, K key/value heads (H a multiple of K), T this rank's tokens, D head_dim.
#pragma once

#include <ATen/core/Tensor.h>

#include "engine/attention/flash_tensors.h"
#include "engine/attention/score_rule.h"
#include "engine/comm/groups.h"
#include "engine/plan/attention_schedule.h"

namespace ringmaster {

/// Keys and values side by side; last dim contiguous, other strides free.
struct KeysValues {
    at::Tensor k_btkd;
    at::Tensor v_btkd;
};

/// Returns out [B, H, T, D] in q's dtype, with its memory in B T H D order, and lse [B, H, T]. A query that
/// sees nothing gets zeros, and minus infinity.
FlashOutput scheduled_forward(Group& ring, const AttentionSchedule& schedule, const at::Tensor& q_bhtd,
                              const KeysValues& own, const ScoreRule& rule = {});

struct ScheduledGradients {
    at::Tensor dq_bhtd;  ///< float32, not rounded yet; from one CUDA kernel alone the inputs' dtype
    KeysValues d_btkd;
};

/// `whole` is what the forward returned.
ScheduledGradients scheduled_backward(Group& ring, const AttentionSchedule& schedule,
                                      const at::Tensor& dout_bhtd, const at::Tensor& q_bhtd,
                                      const KeysValues& own, const FlashOutput& whole,
                                      const ScoreRule& rule = {});

}  // namespace ringmaster
