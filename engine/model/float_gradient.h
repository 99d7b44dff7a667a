/// Sums gradients in float32.
#pragma once

#include <ATen/ATen.h>

namespace ringmaster {

inline void scale_by_beta(at::Tensor& gradient, double beta) {
    if (beta == 0) gradient.zero_();
}

/// Runs `body` on a float32 tensor that is added to `gradient` afterwards, or is `gradient` itself.
template <typename Body>
void on_float_gradient(at::Tensor gradient, double beta, const Body& body) {
    scale_by_beta(gradient, beta);
    if (gradient.scalar_type() == at::kFloat) {
        body(gradient);
    } else {
        at::Tensor sum = at::zeros(gradient.sizes(), gradient.options().dtype(at::kFloat));
        body(sum);
        gradient.add_(sum);
    }
}

}  // namespace ringmaster
