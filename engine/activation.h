/// Says how an MLP's first products become the input of its last one; for plan, kernels and engine.
#pragma once

namespace ringmaster {

/// GeluTanh is the tanh approximation (Hendrycks & Gimpel 2016, section 2), Gelu the exact one by the error
/// function; Relu2 is max(x, 0)².
enum class Activation { Silu, GeluTanh, Gelu, Relu2 };

struct GateRule {
    Activation activation = Activation::Silu;
    bool gated = true;  ///< f(gate) · up of rows [gate | up]; else f(x)

    /// This is not `= default` because the CUDA kernels are compiled as C++17.
    bool operator==(const GateRule& other) const {
        return activation == other.activation && gated == other.gated;
    }
};

}  // namespace ringmaster
