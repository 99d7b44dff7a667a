/// Defines what the gates of an MLP compute for one element, on the CPU (gates.h) and on CUDA
/// (row_kernels.h).
#pragma once

namespace ringmaster {

/// Holds f(x) and f'(x).
struct Sloped {
    float value, slope;
};

/// Holds the factors of a clamped gate's output, g · sigmoid(slope · g) and u + 1, and derivatives: `slope`
/// is the derivative of the first factor with respect to the gate, and `of_up` that of the output with
/// respect to `up`. A derivative is 0 beyond a limit.
struct Clamped {
    float value, slope, up, of_up;
};

}  // namespace ringmaster
