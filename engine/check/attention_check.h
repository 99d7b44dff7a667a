/// Checks attention on one device against plain matrix products, and a ring's result against one call over
/// the whole sequence.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace ringmaster {

struct AttentionVerdict {
    int64_t head_dim = 0, group = 0;  ///< group: query heads per key/value head
    std::string dtype, mask;          ///< "full", "causal", "inverse_causal", "documents", "window"
    double softcap = 0;               ///< cap of the scores; 0 if there is none
    double worst = 0, bound = 0;      ///< largest of (difference ÷ largest value) over out, dq, dk and dv

    bool ok() const { return worst <= bound; }
};

/// Checks the device's kernels and returns a verdict per case. Cases cover head dims 64, 96, 128 and 256, and
/// one or four query heads per key/value head. They also cover each mask of a slice, packed documents and a
/// sliding window, with and without a cap of scores.
std::vector<AttentionVerdict> check_attention(at::Device device);

struct RingVerdict {
    int ranks = 0;
    int64_t tokens_per_rank = 0;
    std::string dtype;
    double worst = 0, bound = 0;
    // The ring's times are the sums over all ranks' hops; the other two are those of one call over the whole
    // sequence.
    double ring_forward_s = 0, ring_backward_s = 0, one_forward_s = 0, one_backward_s = 0;

    bool ok() const { return worst <= bound; }
    /// Returns the ring's speed relative to one call, forward plus backward: 1 means no loss from splitting.
    double ratio() const { return (one_forward_s + one_backward_s) / (ring_forward_s + ring_backward_s); }
};

/// Checks zigzag over 8 ranks, with 8,192 bfloat16 tokens per rank on a GPU, else 128 float32 tokens.
/// Measures each of the four times for `seconds`.
RingVerdict check_ring(at::Device device, double seconds);

}  // namespace ringmaster
