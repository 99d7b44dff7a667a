/// Passes the states of stretches from rank to rank. A stretch maps the state before it to the state after
/// it, S_after = A · S_before + B. All ranks share A and B of every stretch whose document continues in
/// another stretch, and each rank composes the maps of the stretches before its own. The gradients go the
/// same way back, with Aᵀ. A may be diagonal: the decay over the stretch, one number per head, or one for
/// each of the K rows of a state.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "engine/recurrence/own_stretches.h"

namespace ringmaster {

/// Holds the maps of a rank's stretches, one each: [rows, heads, K, K] and [rows, heads, K, V]. A map is
/// undefined if no other stretch needs it.
struct StateMaps {
    std::vector<at::Tensor> transitions, ends;
    bool only_decays = false;  ///< if true, transitions are diagonal: [rows, heads, 1 or K, 1]
};

/// Returns the state before each of this rank's stretches; undefined if a document begins there. All ranks
/// take part.
std::vector<at::Tensor> states_before(Groups& groups, const OwnStretches& stretches, const StateMaps& maps,
                                      const at::Tensor& like_bhkv);

/// Returns the gradient of the state after each of this rank's stretches; undefined if a document ends there.
/// `transitions` are those of the forward pass. `ends` holds what the gradient of the state before each
/// stretch would be if the gradient of the state after it were zero.
std::vector<at::Tensor> state_gradients_after(Groups& groups, const OwnStretches& stretches,
                                              const StateMaps& maps, const at::Tensor& like_bhkv);

}  // namespace ringmaster
