/// Describes an MLP's activation: how the outputs of its first products become the input of its last product.
/// The plan, the kernels and the engine share it.
#pragma once

namespace ringmaster {

/// GeluTanh is the tanh approximation (Hendrycks & Gimpel 2016, section 2), Gelu uses the exact error
/// function; Relu2 is max(x, 0)².
enum class Activation { Silu, GeluTanh, Gelu, Relu2 };

struct GateRule {
    Activation activation = Activation::Silu;
    bool gated = true;  ///< true: f(gate) · up for rows [gate | up]; false: f(x)
    /// If `limit` is above 0, the result is g · sigmoid(slope · g) · (u + 1), with g = min(gate, limit) and u
    /// = up within ±limit. Gates and ups then alternate in a row of the input. Source: OpenAI 2025, "gpt-oss
    /// model card", section 2.
    double limit = 0;
    double slope = 1;

    int columns() const { return gated ? 2 : 1; }  ///< input columns that each column of the result reads
    bool is_clamped() const { return limit > 0; }

    /// This is not `= default` because the CUDA kernels are compiled as C++17.
    bool operator==(const GateRule& other) const {
        return activation == other.activation && gated == other.gated && limit == other.limit &&
               slope == other.slope;
    }
};

}  // namespace ringmaster
