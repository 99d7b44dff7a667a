/// Defines NEFTune's noise on the embeddings' output (Jain et al. 2023, arXiv 2310.05914), as in
/// transformers.
#pragma once

#include <cstdint>

#include "engine/config/config.h"

namespace ringmaster {

struct NoiseRule {
    double alpha = 0;             ///< 0: no noise
    int64_t length_multiple = 1;  ///< axolotl pads a micro-batch to a multiple of this length
};

NoiseRule noise_rule(const Config& config);

/// Returns the largest noise for rows padded to `length` tokens of `width` numbers.
double noise_limit(const NoiseRule& rule, int64_t length, int64_t width);

}  // namespace ringmaster
