/// Computes on one device, hop by hop and without transfers, what each rank of a ring computes. The tests and
/// the engine's self-test check this arithmetic, and measure what splitting costs apart from the transfers.
///
/// Letters: B rows, H query heads, K key/value heads, T a rank's tokens, S the sequence's tokens, D head_dim.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "engine/attention/flash_tensors.h"
#include "engine/layout/attention_schedule.h"
#include "engine/layout/layout.h"

namespace ringmaster {

/// Holds the tensors of one sequence, or of a rank's part of it.
struct RingShare {
    at::Tensor q_bhtd, dout_bhtd, k_bktd, v_bktd;
};

struct LocalRing {
    std::vector<at::Tensor> places;  ///< positions of each rank's tokens, int64 [T]
    std::vector<AttentionSchedule> schedules;
    std::vector<RingShare> shares;
};

/// Divides a sequence among the ranks of `layout`, which has ring ranks only. Tensors are in B T H D memory
/// order, like the tensors of the model.
LocalRing deal(const Layout& layout, const RingShare& sequence);

/// Returns the output of each rank, after its hops in order.
std::vector<FlashOutput> ring_forward(const LocalRing& ring);
/// Returns the gradients of each rank, float32.
std::vector<FlashGradients> ring_backward(const LocalRing& ring, const std::vector<FlashOutput>& outputs);

/// Returns out, dq, dk and dv in the sequence's order, [B, H or K, S, D].
std::vector<at::Tensor> put_together(const LocalRing& ring, const std::vector<FlashOutput>& outputs,
                                     const std::vector<FlashGradients>& gradients);

/// Computes attention and its gradients with one causal call over the whole sequence, for comparison.
FlashOutput one_call_forward(const RingShare& sequence);
FlashGradients one_call_backward(const RingShare& sequence, const FlashOutput& whole);

}  // namespace ringmaster
