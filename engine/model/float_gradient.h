/// Sums gradients in float32.
#pragma once

#include <ATen/ATen.h>

#include <algorithm>

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

/// Sets gradient to beta · gradient + sum, 1,024 rows at a time, because adding tensors of two dtypes on a
/// CPU makes widened copies.
inline void add_float_sum(at::Tensor gradient, const at::Tensor& sum, double beta) {
    constexpr int64_t kRows = 1024;
    for (int64_t begin = 0; begin < sum.size(0); begin += kRows) {
        const int64_t count = std::min(kRows, sum.size(0) - begin);
        at::Tensor part = gradient.narrow(0, begin, count);
        scale_by_beta(part, beta);
        part.add_(sum.narrow(0, begin, count));
    }
}

}  // namespace ringmaster
