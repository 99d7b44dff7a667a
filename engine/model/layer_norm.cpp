#include "engine/model/layer_norm.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "engine/kernels/fused.h"
#include "engine/model/float_gradient.h"
#include "engine/model/kernel_elements.h"
#include "engine/model/own_ops.h"
#include "engine/model/plain_ops.h"

namespace ringmaster {

namespace plain {

namespace {

at::Tensor normed(const at::Tensor& x_nw, const at::Tensor& stats_n2) {
    return (x_nw.to(at::kFloat) - stats_n2.select(1, 0).unsqueeze(1)) * stats_n2.select(1, 1).unsqueeze(1);
}

at::Tensor weights(const at::Tensor& parameters_w, int64_t width, double offset) {
    return parameters_w.narrow(0, 0, width).to(at::kFloat) + offset;
}

}  // namespace

at::Tensor layer_norm(const at::Tensor& x_nw, const at::Tensor& parameters_w, double eps,
                      at::Tensor& stats_n2, double offset) {
    const int64_t width = x_nw.size(1);
    const at::Tensor x = x_nw.to(at::kFloat), mean_n = x.mean(1);
    const at::Tensor variance_n = (x - mean_n.unsqueeze(1)).square_().mean(1);
    stats_n2 = at::stack({mean_n, at::rsqrt(variance_n + eps)}, 1);
    at::Tensor y_nw = normed(x_nw, stats_n2).mul_(weights(parameters_w, width, offset));
    if (parameters_w.size(0) > width) y_nw.add_(parameters_w.narrow(0, width, width));
    return y_nw.to(x_nw.scalar_type());
}

void layer_norm_backward(const at::Tensor& dy_nw, const at::Tensor& x_nw, const at::Tensor& parameters_w,
                         const at::Tensor& stats_n2, at::Tensor dx_nw, bool accumulate, at::Tensor gradient_w,
                         double beta, double offset) {
    const int64_t width = x_nw.size(1);
    const at::Tensor normed_nw = normed(x_nw, stats_n2), dy = dy_nw.to(at::kFloat);
    if (gradient_w.defined())
        on_float_gradient(gradient_w, beta, [&](at::Tensor sum) {
            sum.narrow(0, 0, width).add_((dy * normed_nw).sum(0));
            if (sum.size(0) > width) sum.narrow(0, width, width).add_(dy.sum(0));
        });
    const at::Tensor pull = dy * weights(parameters_w, width, offset);
    const at::Tensor dx = (pull - pull.mean(1, true) - normed_nw * (pull * normed_nw).mean(1, true)) *
                          stats_n2.select(1, 1).unsqueeze(1);
    accumulate ? dx_nw.add_(dx) : dx_nw.copy_(dx);
}

}  // namespace plain

namespace {

constexpr int64_t kRowsPerTask = 64;
constexpr int64_t kColumnsPerTask = 128;

void accumulate_parameters(const at::Tensor& dy_nw, const at::Tensor& x_nw, const at::Tensor& stats_n2,
                           const at::Tensor& gradient_w, double beta) {
    const int64_t width = x_nw.size(1);
    on_float_gradient(gradient_w, beta, [&](at::Tensor sum) {
        with_element(x_nw, [&]<typename T>(T) {
            at::parallel_for(0, width, kColumnsPerTask, [&](int64_t begin, int64_t end) {
                fused<T>().layer_norm_backward_weight(pointer<T>(dy_nw), pointer<T>(x_nw),
                                                      pointer<float>(stats_n2), pointer<float>(sum),
                                                      norm_biases<float>(sum, width), x_nw.size(0), begin,
                                                      end, dy_nw.stride(0), x_nw.stride(0));
            });
        });
    });
}

}  // namespace

at::Tensor layer_norm(const at::Tensor& x_nw, const at::Tensor& parameters_w, double eps,
                      at::Tensor& stats_n2, double offset) {
    if (uses_own(OwnKernel::LayerNorm, x_nw))
        return own::layer_norm(rows_on(x_nw.device()), x_nw, parameters_w, eps, stats_n2, offset);
    if (!x_nw.is_cpu()) return plain::layer_norm(x_nw, parameters_w, eps, stats_n2, offset);
    const int64_t width = x_nw.size(1);
    stats_n2 = at::empty({x_nw.size(0), 2}, x_nw.options().dtype(at::kFloat));
    at::Tensor y_nw = at::empty(x_nw.sizes(), x_nw.options().memory_format(at::MemoryFormat::Contiguous));
    with_element(x_nw, [&]<typename T>(T) {
        at::parallel_for(0, x_nw.size(0), kRowsPerTask, [&](int64_t begin, int64_t end) {
            fused<T>().layer_norm_forward(
                pointer<T>(x_nw) + begin * x_nw.stride(0), pointer<T>(parameters_w),
                norm_biases<T>(parameters_w, width), pointer<T>(y_nw) + begin * width,
                pointer<float>(stats_n2) + 2 * begin, end - begin, width, x_nw.stride(0), width,
                static_cast<float>(eps), static_cast<float>(offset));
        });
    });
    return y_nw;
}

at::Tensor layer_norm_again(const at::Tensor& x_nw, const at::Tensor& parameters_w, double eps,
                            const at::Tensor& stats_n2, double offset) {
    if (uses_own(OwnKernel::LayerNorm, x_nw))
        return own::norm_again(rows_on(x_nw.device()), x_nw, parameters_w, stats_n2, offset);
    at::Tensor same_stats;
    return layer_norm(x_nw, parameters_w, eps, same_stats, offset);
}

void layer_norm_backward(const at::Tensor& dy_nw, const at::Tensor& x_nw, const at::Tensor& parameters_w,
                         const at::Tensor& stats_n2, at::Tensor dx_nw, bool accumulate, at::Tensor gradient_w,
                         double beta, double offset) {
    if (uses_own(OwnKernel::LayerNorm, x_nw))
        return own::norm_backward(rows_on(x_nw.device()), dy_nw, x_nw, parameters_w, stats_n2, dx_nw,
                                  accumulate, gradient_w, beta, offset);
    if (!x_nw.is_cpu())
        return plain::layer_norm_backward(dy_nw, x_nw, parameters_w, stats_n2, dx_nw, accumulate, gradient_w,
                                          beta, offset);
    if (gradient_w.defined()) accumulate_parameters(dy_nw, x_nw, stats_n2, gradient_w, beta);
    const int64_t width = x_nw.size(1);
    with_element(x_nw, [&]<typename T>(T) {
        at::parallel_for(0, x_nw.size(0), kRowsPerTask, [&](int64_t begin, int64_t end) {
            fused<T>().layer_norm_backward_input(
                pointer<T>(dy_nw) + begin * dy_nw.stride(0), pointer<T>(x_nw) + begin * x_nw.stride(0),
                pointer<T>(parameters_w), pointer<float>(stats_n2) + 2 * begin,
                pointer<T>(dx_nw) + begin * dx_nw.stride(0), end - begin, width, dy_nw.stride(0),
                x_nw.stride(0), dx_nw.stride(0), accumulate, static_cast<float>(offset));
        });
    });
}

}  // namespace ringmaster
