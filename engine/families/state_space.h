/// Describes a state space (Mamba-1 or Mamba-2), used in place of the delta rule: the state decays, and
/// values are added to it by their keys; unlike the delta rule, no old value is subtracted first. Sources: Gu
/// & Dao 2023, arXiv 2312.00752, section 3; Dao & Gu 2024, arXiv 2405.21060.
#pragma once

#include <cstdint>

namespace ringmaster {

struct StateSpace {
    bool on = false;
    bool beside_attention = false;  ///< each layer has attention too, which reads the same input
    bool convolution_bias = false;
    int64_t norm_groups = 0;  ///< groups of outputs that are normalised separately; 0 if the gate has no norm
    bool norm_before_gate = false;
    double least_step = 0, most_step = 0;  ///< limits of the step; both are 0 if there are no limits
    /// Factors of the first matrix's outputs, and of the layer's output.
    double gates = 1, values = 1, keys = 1, queries = 1, steps = 1, output = 1;
    /// If this is above 0, the state space is Mamba-1. Each channel is then a head with one value, and each
    /// element of its state decays at a separate rate. A second matrix computes this many numbers from the
    /// convolution's outputs, and a third matrix computes the steps from them. The second matrix also
    /// computes the keys (B) and queries (C) that all channels share.
    int64_t step_rank = 0;
};

}  // namespace ringmaster
