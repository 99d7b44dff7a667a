/// Attention on one device against plain matrix products, and a whole ring's arithmetic against one call.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace ringmaster {

struct AttentionVerdict {
    int64_t head_dim = 0, group = 0;  ///< query heads to a key/value head
    std::string dtype, mask;          ///< "full", "causal", "inverse_causal", "documents", "window"
    double worst = 0, bound = 0;      ///< of out, dq, dk and dv: difference over the largest value

    bool ok() const { return worst <= bound; }
};

/// Head dims 64, 96, 128 and 256, one head or four to a key/value head, each mask of a slice, packed
/// documents and a sliding window, with the device's flash kernels.
std::vector<AttentionVerdict> check_attention(at::Device device);

struct RingVerdict {
    int ranks = 0;
    int64_t tokens_per_rank = 0;
    std::string dtype;
    double worst = 0, bound = 0;
    // Seconds of all ranks' hops one after the other, and of one call over the whole sequence.
    double ring_forward_s = 0, ring_backward_s = 0, one_forward_s = 0, one_backward_s = 0;

    bool ok() const { return worst <= bound; }
    /// Of the one call's speed, forward and backward together: 1 is no loss from splitting.
    double ratio() const { return (one_forward_s + one_backward_s) / (ring_forward_s + ring_backward_s); }
};

/// Zigzag over 8 ranks; 8,192 bfloat16 tokens a rank on a GPU, 128 float32 ones elsewhere. `seconds` of each
/// of the four.
RingVerdict check_ring(at::Device device, double seconds);

}  // namespace ringmaster
