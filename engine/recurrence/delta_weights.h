/// Holds the small parameters of a recurrent layer.
#pragma once

#include <ATen/core/Tensor.h>

namespace ringmaster {

/// Letters: C channels of the convolution, J taps, H value heads, V width of a head's values. In Mamba-1,
/// each channel is a head, and has a decay for each of the K numbers of its state.
struct DeltaWeights {
    at::Tensor convolution_c1j;
    at::Tensor step_bias_h;  ///< dt_bias; dt_proj.bias of Mamba-1
    at::Tensor decay_log_h;  ///< A_log; [H, K] in Mamba-1
    at::Tensor norm_v;       ///< weights of each head's norm; in a state space, of the norm over all heads
    at::Tensor convolution_bias_c = {};
    at::Tensor skip_h = {};  ///< D, of a state space
};

/// Sets a gradient to beta · gradient + made; does nothing if `gradient` is undefined.
inline void set_gradient(const at::Tensor& gradient, const at::Tensor& made, double beta) {
    if (!gradient.defined()) return;
    if (beta == 0)
        gradient.copy_(made.view(gradient.sizes()));
    else
        gradient.mul_(beta).add_(made.view(gradient.sizes()));
}

}  // namespace ringmaster
