/// Holds the small parameters of a layer with the gated delta rule.
#pragma once

#include <ATen/core/Tensor.h>

namespace ringmaster {

/// C channels of the convolution, J taps, H value heads, V width of a head's values.
struct DeltaWeights {
    at::Tensor convolution_c1j;
    at::Tensor step_bias_h;  ///< dt_bias
    at::Tensor decay_log_h;  ///< A_log
    at::Tensor norm_v;
};

}  // namespace ringmaster
