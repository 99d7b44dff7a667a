#include "engine/model/plain_ops.h"

#include <ATen/ATen.h>

#include "engine/model/float_gradient.h"

// In float32, `to` copies nothing, so results written in place must be computed before any of their sources
// changes.
namespace ringmaster::plain {

at::Tensor rms_norm(const at::Tensor& x_nw, const at::Tensor& weight_w, double eps, at::Tensor& rstd_n,
                    double offset) {
    rstd_n = at::rsqrt(at::mean(x_nw.to(at::kFloat).square(), 1) + eps);
    return plain::rms_norm_again(x_nw, weight_w, rstd_n, offset);
}

namespace {

/// Returns the weight by which a norm multiplies.
at::Tensor with_offset(const at::Tensor& weight_w, double offset) {
    return offset == 0 ? weight_w : weight_w.to(at::kFloat) + offset;
}

}  // namespace

at::Tensor rms_norm_again(const at::Tensor& x_nw, const at::Tensor& weight_w, const at::Tensor& rstd_n,
                          double offset) {
    const at::Tensor scale_w = with_offset(weight_w, offset);
    if (x_nw.scalar_type() == at::kFloat) return (x_nw * rstd_n.unsqueeze(1)).mul_(scale_w);
    return (x_nw.to(at::kFloat) * rstd_n.unsqueeze(1)).mul_(scale_w).to(x_nw.scalar_type());
}

void rms_norm_backward(const at::Tensor& dy_nw, const at::Tensor& x_nw, const at::Tensor& weight_w,
                       const at::Tensor& rstd_n, at::Tensor dx_nw, bool accumulate, at::Tensor gradient_w,
                       double beta, double offset) {
    const at::Tensor xhat = x_nw.to(at::kFloat) * rstd_n.unsqueeze(1);
    if (gradient_w.defined())
        on_float_gradient(gradient_w, beta, [&](at::Tensor sum) { sum.add_((dy_nw * xhat).sum(0)); });
    const at::Tensor pull = dy_nw.to(at::kFloat) * with_offset(weight_w, offset);
    const at::Tensor dx = (pull - xhat * (pull * xhat).mean(1, true)) * rstd_n.unsqueeze(1);
    accumulate ? dx_nw.add_(dx) : dx_nw.copy_(dx);
}

void rotate(at::Tensor qkv_nw, const at::Tensor& cos_td, const at::Tensor& sin_td, int64_t heads,
            int64_t head_dim, bool backward, bool interleaved) {
    const int64_t period = cos_td.size(0), pairs = cos_td.size(1);
    const at::Tensor all =
        qkv_nw.narrow(1, 0, heads * head_dim).view({qkv_nw.size(0) / period, period, heads, head_dim});
    const at::Tensor turned = all.narrow(3, 0, 2 * pairs);
    const at::Tensor x =
        interleaved ? turned.unflatten(3, {pairs, 2}).transpose(3, 4) : turned.unflatten(3, {2, pairs});
    const at::Tensor low = x.select(3, 0).to(at::kFloat), high = x.select(3, 1).to(at::kFloat);
    const at::Tensor cos = cos_td.view({1, period, 1, pairs});
    const at::Tensor sin = (backward ? -sin_td : sin_td).view({1, period, 1, pairs});
    const at::Tensor new_low = low * cos - high * sin, new_high = high * cos + low * sin;
    x.select(3, 0).copy_(new_low);
    x.select(3, 1).copy_(new_high);
}

namespace {

at::Tensor activated(const at::Tensor& x, Activation activation) {
    switch (activation) {
        case Activation::Silu:
            return at::silu(x);
        case Activation::GeluTanh:
            return at::gelu(x, "tanh");
        case Activation::Gelu:
            return at::gelu(x);
        case Activation::Relu2:
            break;
    }
    return at::relu(x).square_();
}

/// Returns dy · f'(x) in float32.
at::Tensor activation_backward(const at::Tensor& dy, const at::Tensor& x, Activation activation) {
    switch (activation) {
        case Activation::Silu:
            return at::silu_backward(dy, x);
        case Activation::GeluTanh:
            return at::gelu_backward(dy, x, "tanh");
        case Activation::Gelu:
            return at::gelu_backward(dy, x);
        case Activation::Relu2:
            break;
    }
    return dy * at::relu(x).mul_(2);
}

}  // namespace

namespace {

/// Holds gate and up in float32, and the gate's sigmoid, for rows in which gate and up alternate.
struct ClampedPairs {
    at::Tensor raw_gate, raw_up, gate, up, sigmoid;

    ClampedPairs(const at::Tensor& pairs_n2i, const GateRule& rule)
        : raw_gate(pairs_n2i.unflatten(1, {-1, 2}).select(2, 0).to(at::kFloat)),
          raw_up(pairs_n2i.unflatten(1, {-1, 2}).select(2, 1).to(at::kFloat)),
          gate(raw_gate.clamp_max(rule.limit)),
          up(raw_up.clamp(-rule.limit, rule.limit) + 1),
          sigmoid(at::sigmoid(rule.slope * gate)) {}
};

at::Tensor clamped_backward(at::Tensor pairs_n2i, const at::Tensor& dact_ni, const GateRule& rule) {
    const ClampedPairs of(pairs_n2i, rule);
    const at::Tensor dact = dact_ni.to(at::kFloat), value = of.gate * of.sigmoid;
    const at::Tensor slope = of.sigmoid + rule.slope * value * (1 - of.sigmoid);
    const at::Tensor pairs_ni2 = pairs_n2i.unflatten(1, {-1, 2});
    pairs_ni2.select(2, 0).copy_(dact * of.up * slope * of.raw_gate.le(rule.limit));
    pairs_ni2.select(2, 1).copy_(dact * value * of.raw_up.abs().le(rule.limit));
    return (value * of.up).to(pairs_n2i.scalar_type());
}

}  // namespace

at::Tensor gate(const at::Tensor& gate_up_n2i, const GateRule& rule) {
    if (rule.is_clamped()) {
        const ClampedPairs of(gate_up_n2i, rule);
        return (of.gate * of.sigmoid * of.up).to(gate_up_n2i.scalar_type());
    }
    if (!rule.gated) return activated(gate_up_n2i, rule.activation);
    const int64_t width = gate_up_n2i.size(1) / 2;
    return activated(gate_up_n2i.narrow(1, 0, width), rule.activation) * gate_up_n2i.narrow(1, width, width);
}

at::Tensor gate_backward(at::Tensor gate_up_n2i, const at::Tensor& dact_ni, const GateRule& rule) {
    if (rule.is_clamped()) return clamped_backward(gate_up_n2i, dact_ni, rule);
    const int64_t width = dact_ni.size(1);
    const at::Tensor gate = gate_up_n2i.narrow(1, 0, width).to(at::kFloat);
    const at::Tensor value = activated(gate, rule.activation), dact = dact_ni.to(at::kFloat);
    if (!rule.gated) {
        gate_up_n2i.copy_(activation_backward(dact, gate, rule.activation));
        return value.to(gate_up_n2i.scalar_type());
    }
    const at::Tensor up = gate_up_n2i.narrow(1, width, width).to(at::kFloat);
    const at::Tensor act_ni = (value * up).to(gate_up_n2i.scalar_type());
    const at::Tensor dgate = activation_backward(dact * up, gate, rule.activation);
    gate_up_n2i.narrow(1, width, width).copy_(dact * value);
    gate_up_n2i.narrow(1, 0, width).copy_(dgate);
    return act_ni;
}

at::Tensor cross_entropy(at::Tensor logits_nv, const at::Tensor& labels_n, std::optional<double> scale) {
    at::Tensor log_p = at::log_softmax(logits_nv, 1, at::kFloat);
    const at::Tensor label_n1 = labels_n.unsqueeze(1);
    at::Tensor loss_n = log_p.gather(1, label_n1).squeeze(1).neg();
    if (!scale) return loss_n;
    at::Tensor gradient = log_p.exp_();
    gradient.scatter_(1, label_n1, gradient.gather(1, label_n1) - 1);
    logits_nv.copy_(gradient.mul_(*scale));
    return loss_n;
}

}  // namespace ringmaster::plain
