/// Computes the activations of an MLP and their gradients with LibTorch's functions and autograd.
#pragma once

#include <ATen/ATen.h>

#include <utility>
#include <vector>

#include "engine/activation.h"

namespace ringmaster {

/// Returns pairs of a row's width and a rule; the rules cover every activation, gated and not.
inline std::vector<std::pair<int64_t, GateRule>> gate_cases() {
    std::vector<std::pair<int64_t, GateRule>> cases;
    for (const bool gated : {true, false}) {
        for (const Activation activation :
             {Activation::Silu, Activation::GeluTanh, Activation::Gelu, Activation::Relu2}) {
            for (const int64_t width : {8, 33}) cases.push_back({width, {activation, gated}});
        }
    }
    cases.push_back({704, {}});
    // The limit lies within the range of the tests' numbers, so that some are beyond it.
    for (const int64_t width : {8, 33}) cases.push_back({width, {.limit = 0.7, .slope = 1.702}});
    return cases;
}

inline at::Tensor gate_by_autograd(const at::Tensor& gate_up, const GateRule& rule) {
    if (rule.is_clamped()) {
        const at::Tensor gate = gate_up.slice(1, 0, std::nullopt, 2).clamp_max(rule.limit);
        const at::Tensor up = gate_up.slice(1, 1, std::nullopt, 2).clamp(-rule.limit, rule.limit);
        return (up + 1) * gate * at::sigmoid(gate * rule.slope);
    }
    const int64_t width = gate_up.size(1) / (rule.gated ? 2 : 1);
    const at::Tensor x = gate_up.narrow(1, 0, width);
    const at::Tensor y = rule.activation == Activation::Silu       ? at::silu(x)
                         : rule.activation == Activation::GeluTanh ? at::gelu(x, "tanh")
                         : rule.activation == Activation::Gelu     ? at::gelu(x)
                                                                   : at::relu(x).square();
    return rule.gated ? y * gate_up.narrow(1, width, width) : y;
}

}  // namespace ringmaster
