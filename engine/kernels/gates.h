/// Computes the activations of gated MLPs, and their derivatives, one number at a time. Only kernels include
/// it.
#pragma once

#include <cmath>

#include "engine/activation.h"
#include "engine/kernels/exponential.h"
#include "engine/kernels/gate_values.h"

namespace ringmaster::RINGMASTER_ISA {

constexpr float kTwoOverRootPi = 2 * 0.7978845608F;  // 2 · (2/π)^1/2
constexpr float kCube = 0.044715F;

template <Activation kind>
inline float value_of(float x) {
    if constexpr (kind == Activation::Silu) return x / (1.0F + exponential(-x));
    // (1 + tanh(u)) / 2 is the sigmoid of 2u.
    if constexpr (kind == Activation::GeluTanh)
        return x / (1.0F + exponential(-kTwoOverRootPi * (x + kCube * x * x * x)));
    if constexpr (kind == Activation::Gelu) return 0.5F * x * (1.0F + std::erf(x * 0.7071067812F));
    const float kept = x < 0 ? 0 : x;
    return kept * kept;
}

template <Activation kind>
inline Sloped sloped(float x) {
    if constexpr (kind == Activation::Silu) {
        const float sigmoid = 1.0F / (1.0F + exponential(-x)), silu = x * sigmoid;
        return {silu, sigmoid + silu * (1.0F - sigmoid)};
    } else if constexpr (kind == Activation::GeluTanh) {
        const float s = 1.0F / (1.0F + exponential(-kTwoOverRootPi * (x + kCube * x * x * x)));
        return {x * s, s + x * s * (1.0F - s) * kTwoOverRootPi * (1.0F + 3.0F * kCube * x * x)};
    } else if constexpr (kind == Activation::Gelu) {
        const float below = 0.5F * (1.0F + std::erf(x * 0.7071067812F));
        return {x * below, below + x * exponential(-0.5F * x * x) * 0.3989422804F};
    } else {
        const float kept = x < 0 ? 0 : x;
        return {kept * kept, 2.0F * kept};
    }
}

inline Clamped clamped(float gate, float up, float limit, float slope) {
    const float g = gate > limit ? limit : gate, below = up > limit ? limit : up;
    const float u = below < -limit ? -limit : below;
    const float sigmoid = 1.0F / (1.0F + exponential(-slope * g)), value = g * sigmoid;
    return {value, gate > limit ? 0.0F : sigmoid + slope * value * (1.0F - sigmoid), u + 1.0F,
            u == up ? value : 0.0F};
}

/// Calls `body` with the activation, and whether it is gated, as compile-time constants.
template <typename Body>
inline void with_rule(const GateRule& rule, const Body& body) {
    const auto with = [&]<Activation kind>() {
        rule.gated ? body.template operator()<kind, true>() : body.template operator()<kind, false>();
    };
    switch (rule.activation) {
        case Activation::Silu:
            return with.template operator()<Activation::Silu>();
        case Activation::GeluTanh:
            return with.template operator()<Activation::GeluTanh>();
        case Activation::Gelu:
            return with.template operator()<Activation::Gelu>();
        case Activation::Relu2:
            return with.template operator()<Activation::Relu2>();
    }
}

}  // namespace ringmaster::RINGMASTER_ISA
