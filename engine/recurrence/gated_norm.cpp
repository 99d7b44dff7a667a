#include "engine/recurrence/gated_norm.h"

#include <ATen/ATen.h>

namespace ringmaster {

namespace {

at::Tensor inverse_rms(const at::Tensor& x, double eps) {
    return x.square().mean(-1, true).add_(eps).rsqrt_();
}

}  // namespace

at::ScalarType sum_type(const at::Tensor& x) {
    return x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
}

/// Rounds the normed values to the inputs' dtype before the gate, as transformers does.
at::Tensor gated_norm(const at::Tensor& x_nhv, const at::Tensor& gate_nhv, const at::Tensor& weight_v,
                      double eps) {
    const at::Tensor x = x_nhv.to(sum_type(x_nhv));
    const at::Tensor normed = (x * inverse_rms(x, eps)).to(x_nhv.scalar_type()) * weight_v;
    return at::silu(gate_nhv.to(x.scalar_type())).mul_(normed).to(x_nhv.scalar_type());
}

GatedNormGradients gated_norm_backward(const at::Tensor& dy_nhv, const at::Tensor& x_nhv,
                                       const at::Tensor& gate_nhv, const at::Tensor& weight_v, double eps) {
    const at::ScalarType dtype = sum_type(x_nhv);
    const at::Tensor x = x_nhv.to(dtype), gate = gate_nhv.to(dtype), dy = dy_nhv.to(dtype);
    const at::Tensor rms = inverse_rms(x, eps), normed = x * rms, weight = weight_v.to(dtype);
    const at::Tensor dgate = at::silu_backward(dy * normed * weight, gate);
    const at::Tensor dweighted = dy * at::silu(gate);
    const at::Tensor dnormed = dweighted * weight;
    const at::Tensor dx = (dnormed - normed * (dnormed * normed).mean(-1, true)) * rms;
    const at::Tensor dweight = (dweighted * normed).sum(at::IntArrayRef{0, 1});
    return {dx, dgate, dweight};
}

}  // namespace ringmaster
