#include "engine/model/own_ops.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "engine/model/float_gradient.h"
#include "engine/model/kernel_elements.h"
#include "engine/piece_sizes.h"

namespace ringmaster::own {

namespace {

at::Tensor packed_like(const at::Tensor& x_nw) {
    return at::empty(x_nw.sizes(), x_nw.options().memory_format(at::MemoryFormat::Contiguous));
}

bool is_centred(const at::Tensor& stats) {
    return stats.dim() == 2;
}

at::Tensor normed(const RunRows& run, const at::Tensor& x_nw, const at::Tensor& parameters_w, double eps,
                  const at::Tensor& stats, bool known, double offset) {
    const at::Tensor y_nw = packed_like(x_nw);
    with_element(x_nw, [&]<typename T>(T) {
        NormForward<T> kernel{};
        kernel.rows = x_nw.size(0);
        kernel.width = x_nw.size(1);
        kernel.x_stride = x_nw.stride(0);
        kernel.y_stride = y_nw.stride(0);
        kernel.x = pointer<T>(x_nw);
        kernel.weight = pointer<T>(parameters_w);
        kernel.y = pointer<T>(y_nw);
        kernel.stats = pointer<float>(stats);
        kernel.eps = static_cast<float>(eps);
        kernel.known = known;
        kernel.offset = static_cast<float>(offset);
        kernel.centred = is_centred(stats);
        kernel.bias = norm_biases<T>(parameters_w, x_nw.size(1));
        run(kernel);
    });
    return y_nw;
}

/// Adds the parameters' gradient in an order that depends only on the sizes.
void add_parameter_gradient(const RunRows& run, const at::Tensor& dy_nw, const at::Tensor& x_nw,
                            const at::Tensor& stats, at::Tensor sum_w) {
    constexpr int64_t kTokensPerChunk = pieces::kNormTokens;
    const int64_t tokens = x_nw.size(0), width = x_nw.size(1);
    const int64_t chunks = (tokens + kTokensPerChunk - 1) / kTokensPerChunk;
    const at::Tensor partial_cw = at::empty({chunks, sum_w.size(0)}, sum_w.options());
    with_element(x_nw, [&]<typename T>(T) {
        NormBackwardWeight<T> kernel{};
        kernel.rows = chunks * NormBackwardWeight<T>::column_blocks(width);
        kernel.tokens = tokens;
        kernel.width = width;
        kernel.tokens_per_chunk = kTokensPerChunk;
        kernel.dy_stride = dy_nw.stride(0);
        kernel.x_stride = x_nw.stride(0);
        kernel.dy = pointer<T>(dy_nw);
        kernel.x = pointer<T>(x_nw);
        kernel.stats = pointer<float>(stats);
        kernel.partial = pointer<float>(partial_cw);
        kernel.centred = is_centred(stats);
        kernel.biases = sum_w.size(0) > width;
        run(kernel);
    });
    sum_w.add_(partial_cw.sum(0));
}

}  // namespace

at::Tensor rms_norm(const RunRows& run, const at::Tensor& x_nw, const at::Tensor& weight_w, double eps,
                    at::Tensor& rstd_n, double offset) {
    rstd_n = at::empty({x_nw.size(0)}, x_nw.options().dtype(at::kFloat));
    return normed(run, x_nw, weight_w, eps, rstd_n, false, offset);
}

at::Tensor layer_norm(const RunRows& run, const at::Tensor& x_nw, const at::Tensor& parameters_w, double eps,
                      at::Tensor& stats_n2, double offset) {
    stats_n2 = at::empty({x_nw.size(0), 2}, x_nw.options().dtype(at::kFloat));
    return normed(run, x_nw, parameters_w, eps, stats_n2, false, offset);
}

at::Tensor norm_again(const RunRows& run, const at::Tensor& x_nw, const at::Tensor& parameters_w,
                      const at::Tensor& stats, double offset) {
    return normed(run, x_nw, parameters_w, 0, stats, true, offset);
}

void norm_backward(const RunRows& run, const at::Tensor& dy_nw, const at::Tensor& x_nw,
                   const at::Tensor& parameters_w, const at::Tensor& stats, at::Tensor dx_nw, bool accumulate,
                   at::Tensor gradient_w, double beta, double offset) {
    if (gradient_w.defined())
        on_float_gradient(gradient_w, beta,
                          [&](at::Tensor sum) { add_parameter_gradient(run, dy_nw, x_nw, stats, sum); });
    with_element(x_nw, [&]<typename T>(T) {
        NormBackwardInput<T> kernel{};
        kernel.rows = x_nw.size(0);
        kernel.width = x_nw.size(1);
        kernel.dy_stride = dy_nw.stride(0);
        kernel.x_stride = x_nw.stride(0);
        kernel.dx_stride = dx_nw.stride(0);
        kernel.dy = pointer<T>(dy_nw);
        kernel.x = pointer<T>(x_nw);
        kernel.weight = pointer<T>(parameters_w);
        kernel.stats = pointer<float>(stats);
        kernel.dx = pointer<T>(dx_nw);
        kernel.accumulate = accumulate;
        kernel.offset = static_cast<float>(offset);
        kernel.centred = is_centred(stats);
        run(kernel);
    });
}

void rotate(const RunRows& run, at::Tensor qkv_nw, const at::Tensor& cos_td, const at::Tensor& sin_td,
            int64_t heads, int64_t head_dim, bool backward, bool interleaved) {
    with_element(qkv_nw, [&]<typename T>(T) {
        Rope<T> kernel{};
        kernel.rows = qkv_nw.size(0);
        kernel.period = cos_td.size(0);
        kernel.heads = heads;
        kernel.head_dim = head_dim;
        kernel.row_stride = qkv_nw.stride(0);
        kernel.x = pointer<T>(qkv_nw);
        kernel.cos = pointer<float>(cos_td);
        kernel.sin = pointer<float>(sin_td);
        kernel.direction = backward ? -1.0F : 1.0F;
        kernel.pairs = cos_td.size(1);
        kernel.interleaved = interleaved;
        run(kernel);
    });
}

at::Tensor gate(const RunRows& run, const at::Tensor& gate_up_n2i, const GateRule& rule) {
    const int64_t rows = gate_up_n2i.size(0), width = gate_up_n2i.size(1) / (rule.gated ? 2 : 1);
    at::Tensor act_ni = at::empty({rows, width}, gate_up_n2i.options());
    with_element(gate_up_n2i, [&]<typename T>(T) {
        run(GateForward<T>{rows, width, pointer<T>(gate_up_n2i), pointer<T>(act_ni), rule});
    });
    return act_ni;
}

at::Tensor gate_backward(const RunRows& run, at::Tensor gate_up_n2i, const at::Tensor& dact_ni,
                         const GateRule& rule, at::Tensor act_ni) {
    const int64_t rows = dact_ni.size(0), width = dact_ni.size(1);
    if (!act_ni.defined()) act_ni = at::empty({rows, width}, gate_up_n2i.options());
    with_element(gate_up_n2i, [&]<typename T>(T) {
        run(GateBackward<T>{rows, width, pointer<T>(gate_up_n2i), pointer<T>(act_ni), pointer<T>(dact_ni),
                            rule});
    });
    return act_ni;
}

at::Tensor cross_entropy(const RunRows& run, at::Tensor logits_nv, const at::Tensor& labels_n,
                         std::optional<double> scale) {
    const int64_t rows = logits_nv.size(0), vocab = logits_nv.size(1);
    at::Tensor loss_n = at::empty({rows}, logits_nv.options().dtype(at::kFloat));
    with_element(logits_nv, [&]<typename T>(T) {
        run(CrossEntropy<T>{rows, vocab, pointer<T>(logits_nv), pointer<int64_t>(labels_n),
                            pointer<float>(loss_n), static_cast<float>(scale.value_or(0))});
    });
    return loss_n;
}

}  // namespace ringmaster::own
