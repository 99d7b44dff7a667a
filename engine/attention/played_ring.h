/// A ring's arithmetic on one device: what each of its ranks computes, hop by hop, with nothing carried. To
/// prove that arithmetic, and to time what splitting costs before any link does.
///
/// Letters: B rows, H query heads, K key/value heads, T a rank's tokens, S the sequence's, D head_dim.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "engine/attention/flash_tensors.h"
#include "engine/plan/attention_schedule.h"
#include "engine/plan/layout.h"

namespace ringmaster {

/// Of one sequence, or of a rank's part of it.
struct RingShare {
    at::Tensor q_bhtd, dout_bhtd, k_bktd, v_bktd;
};

struct PlayedRing {
    std::vector<at::Tensor> places;  ///< int64 [T] of each rank
    std::vector<AttentionSchedule> schedules;
    std::vector<RingShare> shares;
};

/// Deals a sequence out as `layout` says, which is of ring ranks alone. Tensors' memory is in B T H D order,
/// as the model's.
PlayedRing deal(const Layout& layout, const RingShare& sequence);

/// Of each rank, its hops in order.
std::vector<FlashOutput> play_forward(const PlayedRing& ring);
/// Float32.
std::vector<FlashGradients> play_backward(const PlayedRing& ring, const std::vector<FlashOutput>& outputs);

/// out, dq, dk and dv in the sequence's order, [B, H or K, S, D].
std::vector<at::Tensor> put_together(const PlayedRing& ring, const std::vector<FlashOutput>& outputs,
                                     const std::vector<FlashGradients>& gradients);

/// The same work by one call over the whole sequence, causal.
FlashOutput one_call_forward(const RingShare& sequence);
FlashGradients one_call_backward(const RingShare& sequence, const FlashOutput& whole);

}  // namespace ringmaster
