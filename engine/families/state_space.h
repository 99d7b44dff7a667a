/// Describes what a state space (Mamba-2) has in place of the delta rule: the state forgets, and keys write
/// values, but nothing is removed from it. Source: Dao & Gu 2024, arXiv 2405.21060.
#pragma once

#include <cstdint>

namespace ringmaster {

struct StateSpace {
    bool on = false;
    bool beside_attention = false;  ///< each layer has attention too, which reads the same input
    bool convolution_bias = false;
    int64_t norm_groups = 0;  ///< parts of the outputs that are normed apart; 0: the gate has no norm
    bool norm_before_gate = false;
    double least_step = 0, most_step = 0;  ///< limits of the step; 0: none
    /// Factors of the first matrix's outputs, and of the layer's output.
    double gates = 1, values = 1, keys = 1, queries = 1, steps = 1, output = 1;
};

}  // namespace ringmaster
