#include "engine/recurrence/gated_groups.h"

#include <ATen/ATen.h>

namespace ringmaster {

namespace {

/// Views columns as [N, groups, width of a group].
at::Tensor by_groups(const StateSpace& rule, const at::Tensor& x_nw) {
    return x_nw.unflatten(1, {rule.norm_groups, -1});
}

at::Tensor inverse_rms(const StateSpace& rule, const at::Tensor& x_nw, double eps) {
    return by_groups(rule, x_nw).square().mean(-1, true).add_(eps).rsqrt_();
}

/// Divides each group by its root mean square.
at::Tensor normed(const StateSpace& rule, const at::Tensor& x_nw, double eps) {
    return (by_groups(rule, x_nw) * inverse_rms(rule, x_nw, eps)).flatten(1);
}

/// Computes the backward pass of `normed`.
at::Tensor normed_backward(const StateSpace& rule, const at::Tensor& dy_nw, const at::Tensor& x_nw,
                           double eps) {
    const at::Tensor inverse = inverse_rms(rule, x_nw, eps), y = by_groups(rule, x_nw) * inverse;
    const at::Tensor dy = by_groups(rule, dy_nw);
    return ((dy - y * (dy * y).mean(-1, true)) * inverse).flatten(1);
}

}  // namespace

at::Tensor gated_groups(const StateSpace& rule, const at::Tensor& x_nw, const at::Tensor& gate_nw,
                        const at::Tensor& weight_w, double eps) {
    const at::ScalarType dtype = sum_type(x_nw);
    const at::Tensor share = at::silu(gate_nw.to(dtype) * rule.gates), x = x_nw.to(dtype);
    if (!weight_w.defined()) return (x * share).to(x_nw.scalar_type());
    const at::Tensor read = rule.norm_before_gate ? x : x * share;
    const at::Tensor y = normed(rule, read, eps).mul_(weight_w);
    return (rule.norm_before_gate ? y * share : y).to(x_nw.scalar_type());
}

GatedNormGradients gated_groups_backward(const StateSpace& rule, const at::Tensor& dy_nw,
                                         const at::Tensor& x_nw, const at::Tensor& gate_nw,
                                         const at::Tensor& weight_w, double eps) {
    const at::ScalarType dtype = sum_type(x_nw);
    const at::Tensor x = x_nw.to(dtype), gate = gate_nw.to(dtype) * rule.gates, share = at::silu(gate);
    at::Tensor dx = dy_nw.to(dtype), dshare, dweight;
    const auto gate_backward = [&](const at::Tensor& read) {
        dshare = dx * read;
        dx = dx * share;
    };
    const auto norm_backward = [&](const at::Tensor& read) {
        dweight = (dx * normed(rule, read, eps)).sum(0);
        dx = normed_backward(rule, dx * weight_w, read, eps);
    };
    if (!weight_w.defined()) {
        gate_backward(x);
    } else if (rule.norm_before_gate) {
        gate_backward(normed(rule, x, eps).mul_(weight_w));
        norm_backward(x);
    } else {
        norm_backward(x * share);
        gate_backward(x);
    }
    return {dx, at::silu_backward(dshare, gate).mul_(rule.gates), dweight};
}

}  // namespace ringmaster
