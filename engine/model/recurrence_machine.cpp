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
    return delta_layer().forward(by_rows(projected_nw, rows_));
}

at::Tensor TensorMachine::gated(const at::Tensor& projected_nw, const Recurred& recurred) const {
    if (model_.delta.scans())
        return selective_scan().gated(by_rows(projected_nw, rows_), recurred).flatten(0, 1);
    return delta_layer().gated(by_rows(projected_nw, rows_), recurred).flatten(0, 1);
}

void TensorMachine::recur_backward(at::Tensor dgated_nw, const at::Tensor& projected_nw, Recurred recurred,
                                   double beta) const {
    delta_layer().backward(by_rows(dgated_nw, rows_), by_rows(projected_nw, rows_), recurred,
                           gradients().delta, beta);
}

at::Tensor TensorMachine::convolve_channels(const at::Tensor& projected_nw) const {
    return selective_scan().convolved(by_rows(projected_nw, rows_)).flatten(0, 1);
}

void TensorMachine::convolve_channels_backward(at::Tensor dchannels_ne, const at::Tensor& projected_nw,
                                               double beta) const {
    selective_scan().convolved_backward(by_rows(dchannels_ne, rows_), by_rows(projected_nw, rows_),
                                        gradients().delta, beta);
}

namespace {

ScanTensors by_rows(const TensorMachine::Scanned& in, int64_t rows) {
    return {by_rows(in.channels, rows), by_rows(in.steps, rows), by_rows(in.keys, rows),
            by_rows(in.queries, rows)};
}

}  // namespace

TensorMachine::Recurred TensorMachine::scan(const Scanned& in) const {
    return selective_scan().forward(by_rows(in, rows_));
}

TensorMachine::Scanned TensorMachine::scan_backward(at::Tensor dgated_ne, const at::Tensor& projected_nw,
                                                    const Scanned& in, Recurred recurred, double beta) const {
    const ScanTensors d = selective_scan().backward(by_rows(dgated_ne, rows_), by_rows(projected_nw, rows_),
                                                    by_rows(in, rows_), recurred, gradients().delta, beta);
    return {d.channels_bte.flatten(0, 1), in.steps, d.keys_btk.flatten(0, 1), d.queries_btk.flatten(0, 1)};
}

at::Tensor TensorMachine::selected_like(const at::Tensor& steps_nr) const {
    return at::empty({steps_nr.size(0), model_.delta.selected()}, steps_nr.options());
}

at::Tensor TensorMachine::convolve(const at::Tensor& projected_nw) const {
    return short_convolution().forward(by_rows(projected_nw, rows_)).flatten(0, 1);
}

void TensorMachine::convolve_backward(at::Tensor dconvolved_nc, const at::Tensor& projected_nw,
                                      double beta) const {
    short_convolution().backward(by_rows(dconvolved_nc, rows_), by_rows(projected_nw, rows_),
                                 gradients().delta.convolution_c1j, beta);
}

}  // namespace ringmaster
