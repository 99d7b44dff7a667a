// Computes a layer's recurrence, and the gates of attention's output.
#include <ATen/ATen.h>

#include "engine/model/tensor_machine.h"

namespace ringmaster {

at::Tensor TensorMachine::take_gates(at::Tensor& qkv_nw) const {
    const int64_t H = model_.num_heads, D = model_.head_dim, N = qkv_nw.size(0);
    const int64_t rest = qkv_nw.size(1) - 2 * H * D;
    const at::Tensor both_nh2d = qkv_nw.narrow(1, 0, 2 * H * D).view({N, H, 2, D});
    const at::Tensor taken = at::empty({N, H * D + rest}, qkv_nw.options());
    taken.narrow(1, 0, H * D).view({N, H, D}).copy_(both_nh2d.select(2, 0));
    taken.narrow(1, H * D, rest).copy_(qkv_nw.narrow(1, 2 * H * D, rest));
    const at::Tensor gates_nw = both_nh2d.select(2, 1).reshape({N, H * D});
    qkv_nw = taken;
    return gates_nw;
}

at::Tensor TensorMachine::put_gates(const at::Tensor& qkv_nw, const at::Tensor& gates_nw) const {
    const int64_t H = model_.num_heads, D = model_.head_dim, N = qkv_nw.size(0);
    const int64_t rest = qkv_nw.size(1) - H * D;
    at::Tensor both = at::empty({N, 2 * H * D + rest}, qkv_nw.options());
    const at::Tensor both_nh2d = both.narrow(1, 0, 2 * H * D).view({N, H, 2, D});
    both_nh2d.select(2, 0).copy_(qkv_nw.narrow(1, 0, H * D).view({N, H, D}));
    both_nh2d.select(2, 1).copy_(gates_nw.view({N, H, D}));
    both.narrow(1, 2 * H * D, rest).copy_(qkv_nw.narrow(1, H * D, rest));
    return both;
}

at::Tensor TensorMachine::gate_heads(const at::Tensor& heads_nw, const at::Tensor& gates_nw) const {
    return at::sigmoid(gates_nw).mul_(heads_nw);
}

void TensorMachine::gate_heads_backward(const at::Tensor& dout_nw, const at::Tensor& heads_nw,
                                        const at::Tensor& gates_nw) const {
    const at::Tensor shares_nw = at::sigmoid(gates_nw);
    gates_nw.copy_(at::sigmoid_backward(dout_nw * heads_nw, shares_nw));
    dout_nw.mul_(shares_nw);
}

namespace {

at::Tensor by_rows(const at::Tensor& x_nw, int64_t rows) {
    return x_nw.view({rows, x_nw.size(0) / rows, x_nw.size(1)});
}

}  // namespace

TensorMachine::Recurred TensorMachine::recur(const at::Tensor& projected_nw) const {
    if (model_.delta.convolved > 0) return {};  // `gated` computes it anew
    return delta_layer().forward(by_rows(projected_nw, rows_));
}

at::Tensor TensorMachine::gated(const at::Tensor& projected_nw, const Recurred& recurred) const {
    const at::Tensor projected_btw = by_rows(projected_nw, rows_);
    const at::Tensor gated_btc = model_.delta.convolved > 0 ? short_convolution().forward(projected_btw)
                                                            : delta_layer().gated(projected_btw, recurred);
    return gated_btc.flatten(0, 1);
}

void TensorMachine::recur_backward(at::Tensor dgated_nw, const at::Tensor& projected_nw, Recurred recurred,
                                   double beta) const {
    const at::Tensor dgated_btc = by_rows(dgated_nw, rows_), projected_btw = by_rows(projected_nw, rows_);
    if (model_.delta.convolved > 0)
        short_convolution().backward(dgated_btc, projected_btw, gradients().delta.convolution_c1j, beta);
    else
        delta_layer().backward(dgated_btc, projected_btw, recurred, gradients().delta, beta);
}

}  // namespace ringmaster
