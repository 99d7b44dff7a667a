/// Defines how attention turns the product of a query and a key into a score.
#pragma once

#include <ATen/core/Tensor.h>

#include <cmath>

namespace ringmaster {

struct ScoreRule {
    double scale = 0;    ///< factor of the scores; 0 means head_dim^-1/2
    double softcap = 0;  ///< cap c: if not 0, a score s becomes c · tanh(s / c) (Gemma 2, section 2)

    double scale_of(const at::Tensor& q) const {
        return scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(q.size(-1)));
    }
};

}  // namespace ringmaster
