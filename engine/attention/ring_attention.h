/// Attention round a ring: the next hop's keys and values are under way while a hop computes, partial results
/// are merged by their log-sum-exp in float32; in the backward the gradients of keys and values follow them
/// one hop behind, in float32, and come home with the last. Forward beside backward.
///
/// Letters: B rows, H query heads, K key/value heads (H a multiple of K), T this rank's queries, S keys, D
/// head_dim.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "engine/attention/flash.h"
#include "engine/attention/ring_schedule.h"
#include "engine/comm/groups.h"

namespace ringmaster {

/// Keys and values of one ring rank in one buffer [2, S, B, K, D], so that they travel as one message.
struct KeysValues {
    at::Tensor both;

    at::Tensor keys_bskd() const { return both.select(0, 0).transpose(0, 1); }
    at::Tensor values_bskd() const { return both.select(0, 1).transpose(0, 1); }
};

/// Returns out [B, H, T, D] in q's dtype, with its memory in B T H D order, and lse [B, H, T].
FlashOutput ring_forward(Group& ring, const std::vector<RingHop>& hops, const at::Tensor& q_bhtd,
                         KeysValues own);

/// `whole` is what the forward returned.
FlashGradients ring_backward(Group& ring, const std::vector<RingHop>& hops, const at::Tensor& dout_bhtd,
                             const at::Tensor& q_bhtd, KeysValues own, const FlashOutput& whole);

}  // namespace ringmaster
