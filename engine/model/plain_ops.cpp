#include "engine/model/plain_ops.h"

#include <ATen/ATen.h>

#include "engine/model/float_gradient.h"

// In float32 `to` copies nothing: what is written in place is computed from its sources before any of them
// changes.
namespace ringmaster::plain {

at::Tensor rms_norm(const at::Tensor& x_nw, const at::Tensor& weight_w, double eps, at::Tensor& rstd_n) {
    rstd_n = at::rsqrt(at::mean(x_nw.to(at::kFloat).square(), 1) + eps);
    return plain::rms_norm_again(x_nw, weight_w, rstd_n);
}

at::Tensor rms_norm_again(const at::Tensor& x_nw, const at::Tensor& weight_w, const at::Tensor& rstd_n) {
    if (x_nw.scalar_type() == at::kFloat) return (x_nw * rstd_n.unsqueeze(1)).mul_(weight_w);
    return (x_nw.to(at::kFloat) * rstd_n.unsqueeze(1)).mul_(weight_w).to(x_nw.scalar_type());
}

void rms_norm_backward(const at::Tensor& dy_nw, const at::Tensor& x_nw, const at::Tensor& weight_w,
                       const at::Tensor& rstd_n, at::Tensor dx_nw, bool accumulate, at::Tensor gradient_w,
                       double beta) {
    const at::Tensor xhat = x_nw.to(at::kFloat) * rstd_n.unsqueeze(1);
    if (gradient_w.defined())
        on_float_gradient(gradient_w, beta, [&](at::Tensor sum) { sum.add_((dy_nw * xhat).sum(0)); });
    const at::Tensor pull = dy_nw.to(at::kFloat) * weight_w;
    const at::Tensor dx = (pull - xhat * (pull * xhat).mean(1, true)) * rstd_n.unsqueeze(1);
    accumulate ? dx_nw.add_(dx) : dx_nw.copy_(dx);
}

void rotate(at::Tensor qkv_nw, const at::Tensor& cos_td, const at::Tensor& sin_td, int64_t heads,
            int64_t head_dim, bool backward) {
    const int64_t period = cos_td.size(0);
    const at::Tensor x =
        qkv_nw.narrow(1, 0, heads * head_dim).view({qkv_nw.size(0) / period, period, heads, 2, head_dim / 2});
    const at::Tensor low = x.select(3, 0).to(at::kFloat), high = x.select(3, 1).to(at::kFloat);
    const at::Tensor cos = cos_td.view({1, period, 1, head_dim / 2});
    const at::Tensor sin = (backward ? -sin_td : sin_td).view({1, period, 1, head_dim / 2});
    const at::Tensor new_low = low * cos - high * sin, new_high = high * cos + low * sin;
    x.select(3, 0).copy_(new_low);
    x.select(3, 1).copy_(new_high);
}

at::Tensor swiglu(const at::Tensor& gate_up_n2i) {
    const int64_t width = gate_up_n2i.size(1) / 2;
    return at::silu(gate_up_n2i.narrow(1, 0, width)) * gate_up_n2i.narrow(1, width, width);
}

at::Tensor swiglu_backward(at::Tensor gate_up_n2i, const at::Tensor& dact_ni) {
    const int64_t width = gate_up_n2i.size(1) / 2;
    const at::Tensor gate = gate_up_n2i.narrow(1, 0, width).to(at::kFloat);
    const at::Tensor up = gate_up_n2i.narrow(1, width, width).to(at::kFloat);
    const at::Tensor sigmoid = gate.sigmoid(), silu = gate * sigmoid;
    const at::Tensor act_ni = (silu * up).to(gate_up_n2i.scalar_type());
    gate_up_n2i.narrow(1, 0, width).copy_(dact_ni * up * (sigmoid + silu * (1 - sigmoid)));
    gate_up_n2i.narrow(1, width, width).copy_(dact_ni * silu);
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
