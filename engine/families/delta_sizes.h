/// Sizes of a layer without attention: with the gated delta rule, which keeps a state of fixed size in place
/// of keys and values, or with a short convolution between two gates.
#pragma once

#include <cstdint>

namespace ringmaster {

struct DeltaSizes {
    int64_t key_heads = 0, value_heads = 0;
    int64_t key_width = 0, value_width = 0;  ///< of one head
    int64_t taps = 0;                        ///< tokens that the short convolution reads
    /// The first matrix gives all parts of one key head after another, not all heads of one part.
    bool by_key_head = false;
    /// Above 0: the channels of a short convolution. The layer then has no heads, and one first matrix.
    int64_t convolved = 0;

    int64_t heads_per_key() const { return value_heads / key_heads; }
    int64_t keys() const { return key_heads * key_width; }
    int64_t values() const { return convolved + value_heads * value_width; }
    int64_t channels() const { return 2 * keys() + values(); }  ///< of the convolution
    /// Outputs of the first matrix: the channels, a gate a value, and β and decay a value head; the short
    /// convolution has a second gate of its channels.
    int64_t projected() const { return channels() + values() + convolved + 2 * value_heads; }
};

}  // namespace ringmaster
