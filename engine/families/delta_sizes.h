/// Holds the sizes of a layer that passes a state of fixed size from token to token, in place of keys and
/// values: a gated delta rule, a state space, or a short convolution between two gates.
#pragma once

#include <cstdint>

#include "engine/families/state_space.h"

namespace ringmaster {

struct DeltaSizes {
    int64_t key_heads = 0, value_heads = 0;
    int64_t key_width = 0, value_width = 0;  ///< width of one head's key, or value
    int64_t taps = 0;                        ///< tokens that the short convolution reads
    /// If true, the first matrix's outputs are ordered by key head. Otherwise all queries come first, then
    /// all keys, and so on.
    bool by_key_head = false;
    /// Number of channels of a short convolution. If it is above 0, the layer has no heads and a single first
    /// matrix.
    int64_t convolved = 0;
    /// With a state space, a key head is a group of heads that share keys (B) and queries (C), and key_width
    /// is the width of the state.
    StateSpace state_space = {};

    int64_t heads_per_key() const { return value_heads / key_heads; }
    int64_t keys() const { return key_heads * key_width; }
    int64_t values() const { return convolved + value_heads * value_width; }
    /// Returns whether the layer is a Mamba-1 state space.
    bool scans() const { return state_space.step_rank > 0; }
    /// Channels of the convolution.
    int64_t channels() const { return (scans() ? 0 : 2 * keys()) + values(); }
    /// Outputs of Mamba-1's second matrix, from which steps, keys and queries are computed.
    int64_t selected() const { return state_space.step_rank + (scans() ? 2 * keys() : 0); }
    /// Outputs of the first matrix: the channels, a gate per value, and β and decay per value head. A short
    /// convolution has a second gate for its channels. Mamba-2 has no β; Mamba-1 has neither β nor decay.
    int64_t projected() const {
        if (scans()) return 2 * values();
        return channels() + values() + convolved + (state_space.on ? 1 : 2) * value_heads;
    }
    /// Outputs of the module that gives queries, keys, values and gates; 0 if each part has a separate
    /// module.
    int64_t joined() const {
        if (state_space.on) return projected();
        return by_key_head ? projected() - 2 * value_heads : 0;
    }
    /// Outputs of the module that gives β and decay of all heads; 0 if there is no such module.
    int64_t joined_numbers() const { return by_key_head ? 2 * value_heads : 0; }
};

}  // namespace ringmaster
