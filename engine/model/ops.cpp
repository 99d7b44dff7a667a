#include "engine/model/ops.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <functional>

#include "engine/attention/deterministic.h"
#include "engine/kernels/fused.h"
#include "engine/model/float_gradient.h"
#include "engine/model/kernel_elements.h"
#include "engine/model/own_ops.h"
#include "engine/model/plain_ops.h"
#include "engine/piece_sizes.h"
#include "engine/plan/speeds.h"

namespace ringmaster {

namespace {

constexpr int64_t kRowsPerTask = 64;
constexpr int64_t kColumnsPerTask = 128;

/// Returns whether 16-bit products are computed in float32, a part at a time. On a processor without bfloat16
/// instructions, LibTorch's bfloat16 products take nine times as long (measured on Zen 3). float16 is always
/// widened, because LibTorch's float16 products do not always accumulate in float32.
bool is_widened(const at::Tensor& x) {
    static const bool has_products = cpu_has_bfloat16();
    return x.is_cpu() &&
           (x.scalar_type() == at::kHalf || (!has_products && x.scalar_type() == at::kBFloat16));
}

using pieces::kWideColumns;
using pieces::kWideRows;

void for_parts(int64_t all, int64_t most, const std::function<void(int64_t begin, int64_t count)>& body) {
    for (int64_t begin = 0; begin < all; begin += most) body(begin, std::min(most, all - begin));
}

}  // namespace

at::Tensor scale_in_place(const at::Tensor& x, double factor) {
    return at::Tensor(x).mul_(at::scalar_tensor(factor, at::kDouble));
}

double rounded_to(at::ScalarType dtype, double number) {
    return at::scalar_tensor(number, at::kDouble).to(dtype).item<double>();
}

at::Tensor product(const at::Tensor& a_nk, const at::Tensor& b_km) {
    return product_out(at::empty({a_nk.size(0), b_km.size(1)}, a_nk.options()), a_nk, b_km);
}

at::Tensor product_out(at::Tensor out_nm, const at::Tensor& a_nk, const at::Tensor& b_km) {
    if (!is_widened(a_nk)) return at::mm_out(out_nm, a_nk, b_km);
    const int64_t depth = b_km.size(0);
    for_parts(b_km.size(1), kWideColumns, [&](int64_t m, int64_t columns) {
        const auto widened = [&](int64_t k, int64_t count) {
            return b_km.narrow(0, k, count).narrow(1, m, columns).to(at::kFloat);
        };
        const at::Tensor all = depth <= kWideColumns ? widened(0, depth) : at::Tensor();
        for_parts(a_nk.size(0), kWideRows, [&](int64_t n, int64_t rows) {
            at::Tensor sum = at::zeros({rows, columns}, a_nk.options().dtype(at::kFloat));
            for_parts(depth, kWideColumns, [&](int64_t k, int64_t count) {
                sum.addmm_(a_nk.narrow(0, n, rows).narrow(1, k, count).to(at::kFloat),
                           all.defined() ? all : widened(k, count));
            });
            out_nm.narrow(0, n, rows).narrow(1, m, columns).copy_(sum);
        });
    });
    return out_nm;
}

void add_product(at::Tensor out_nm, const at::Tensor& a_nk, const at::Tensor& b_km) {
    if (!is_widened(a_nk)) {
        out_nm.addmm_(a_nk, b_km);
        return;
    }
    for_parts(a_nk.size(0), kWideRows, [&](int64_t n, int64_t rows) {
        out_nm.narrow(0, n, rows).add_(product(a_nk.narrow(0, n, rows), b_km));
    });
}

at::Tensor linear(const at::Tensor& x_nc, const at::Tensor& weight_oc, const at::Tensor& bias_o) {
    if (is_widened(x_nc)) {
        at::Tensor y_no = product(x_nc, weight_oc.t());
        return bias_o.defined() ? y_no.add_(bias_o) : y_no;
    }
    return bias_o.defined() ? at::addmm(bias_o, x_nc, weight_oc.t()) : at::mm(x_nc, weight_oc.t());
}

void accumulate_weight_gradient(at::Tensor gradient_oc, const at::Tensor& dy_no, const at::Tensor& x_nc,
                                double beta) {
    if (!gradient_oc.defined()) return;
    if (is_widened(x_nc)) {
        for_parts(gradient_oc.size(0), kWideColumns, [&](int64_t o, int64_t columns) {
            on_float_gradient(gradient_oc.narrow(0, o, columns), beta, [&](at::Tensor sum_oc) {
                for_parts(x_nc.size(0), kWideRows, [&](int64_t n, int64_t rows) {
                    const at::Tensor dy = dy_no.narrow(0, n, rows).narrow(1, o, columns).to(at::kFloat);
                    sum_oc.addmm_(dy.t(), x_nc.narrow(0, n, rows).to(at::kFloat));
                });
            });
        });
        return;
    }
    if (gradient_oc.scalar_type() == x_nc.scalar_type()) {
        at::addmm_out(gradient_oc, gradient_oc, dy_no.t(), x_nc, beta, 1);
    } else if (!x_nc.is_cpu()) {  // accumulates in float32 without a 16-bit intermediate
        at::addmm_out(gradient_oc, gradient_oc, dy_no.t(), x_nc, gradient_oc.scalar_type(), beta, 1);
    } else if (beta == 0) {
        gradient_oc.copy_(at::mm(dy_no.t(), x_nc));
    } else {
        const at::Tensor sum_oc = at::mm(dy_no.t(), x_nc);
        // Adding tensors of two dtypes makes widened copies of them, so add a part at a time.
        for_parts(sum_oc.size(0), kWideRows, [&](int64_t o, int64_t rows) {
            gradient_oc.narrow(0, o, rows).add_(sum_oc.narrow(0, o, rows));
        });
    }
}

void accumulate_bias_gradient(at::Tensor gradient_o, const at::Tensor& dy_no, double beta) {
    if (!gradient_o.defined()) return;
    at::Tensor sum = at::sum(dy_no, 0, false, at::kFloat);
    scale_by_beta(gradient_o, beta);
    gradient_o.add_(sum);
}

at::Tensor rms_norm(const at::Tensor& x_nw, const at::Tensor& weight_w, double eps, at::Tensor& rstd_n,
                    double offset) {
    if (uses_own(OwnKernel::RmsNorm, x_nw))
        return own::rms_norm(rows_on(x_nw.device()), x_nw, weight_w, eps, rstd_n, offset);
    if (!x_nw.is_cpu()) return plain::rms_norm(x_nw, weight_w, eps, rstd_n, offset);
    rstd_n = at::empty({x_nw.size(0)}, x_nw.options().dtype(at::kFloat));
    at::Tensor y_nw = at::empty(x_nw.sizes(), x_nw.options().memory_format(at::MemoryFormat::Contiguous));
    const int64_t width = x_nw.size(1);
    with_element(x_nw, [&]<typename T>(T) {
        at::parallel_for(0, x_nw.size(0), kRowsPerTask, [&](int64_t begin, int64_t end) {
            fused<T>().rms_norm_forward(pointer<T>(x_nw) + begin * x_nw.stride(0), pointer<T>(weight_w),
                                        pointer<T>(y_nw) + begin * width, pointer<float>(rstd_n) + begin,
                                        end - begin, width, x_nw.stride(0), width, static_cast<float>(eps),
                                        static_cast<float>(offset));
        });
    });
    return y_nw;
}

at::Tensor rms_norm_again(const at::Tensor& x_nw, const at::Tensor& weight_w, const at::Tensor& rstd_n,
                          double offset) {
    if (uses_own(OwnKernel::RmsNorm, x_nw))
        return own::norm_again(rows_on(x_nw.device()), x_nw, weight_w, rstd_n, offset);
    return plain::rms_norm_again(x_nw, weight_w, rstd_n, offset);
}

void rms_norm_backward(const at::Tensor& dy_nw, const at::Tensor& x_nw, const at::Tensor& weight_w,
                       const at::Tensor& rstd_n, at::Tensor dx_nw, bool accumulate, at::Tensor gradient_w,
                       double beta, double offset) {
    const int64_t rows = x_nw.size(0);
    const int64_t width = x_nw.size(1);
    if (uses_own(OwnKernel::RmsNorm, x_nw))
        return own::norm_backward(rows_on(x_nw.device()), dy_nw, x_nw, weight_w, rstd_n, dx_nw, accumulate,
                                  gradient_w, beta, offset);
    if (!x_nw.is_cpu())
        return plain::rms_norm_backward(dy_nw, x_nw, weight_w, rstd_n, dx_nw, accumulate, gradient_w, beta,
                                        offset);
    with_element(x_nw, [&]<typename T>(T) {
        if (gradient_w.defined())
            on_float_gradient(gradient_w, beta, [&](at::Tensor sum) {
                at::parallel_for(0, width, kColumnsPerTask, [&](int64_t begin, int64_t end) {
                    fused<T>().rms_norm_backward_weight(pointer<T>(dy_nw), pointer<T>(x_nw),
                                                        pointer<float>(rstd_n), pointer<float>(sum), rows,
                                                        begin, end, dy_nw.stride(0), x_nw.stride(0));
                });
            });
        at::parallel_for(0, rows, kRowsPerTask, [&](int64_t begin, int64_t end) {
            fused<T>().rms_norm_backward_input(
                pointer<T>(dy_nw) + begin * dy_nw.stride(0), pointer<T>(x_nw) + begin * x_nw.stride(0),
                pointer<T>(weight_w), pointer<float>(rstd_n) + begin,
                pointer<T>(dx_nw) + begin * dx_nw.stride(0), end - begin, width, dy_nw.stride(0),
                x_nw.stride(0), dx_nw.stride(0), accumulate, static_cast<float>(offset));
        });
    });
}

void rotate(at::Tensor qkv_nw, const at::Tensor& cos_td, const at::Tensor& sin_td, int64_t heads,
            int64_t head_dim, bool backward, bool interleaved) {
    const int64_t rows = qkv_nw.size(0);
    const int64_t period = cos_td.size(0);
    if (uses_own(OwnKernel::Rope, qkv_nw))
        return own::rotate(rows_on(qkv_nw.device()), qkv_nw, cos_td, sin_td, heads, head_dim, backward,
                           interleaved);
    if (!qkv_nw.is_cpu())
        return plain::rotate(qkv_nw, cos_td, sin_td, heads, head_dim, backward, interleaved);
    const int64_t stride = qkv_nw.stride(0);
    const HeadPairs pairs{head_dim, cos_td.size(1), interleaved};
    with_element(qkv_nw, [&]<typename T>(T) {
        at::parallel_for(0, rows, kRowsPerTask, [&](int64_t begin, int64_t end) {
            fused<T>().rope(pointer<T>(qkv_nw) + begin * stride, pointer<float>(cos_td),
                            pointer<float>(sin_td), begin, end - begin, period, heads, pairs, stride,
                            backward ? -1.0F : 1.0F);
        });
    });
}

at::Tensor gate(const at::Tensor& gate_up_n2i, const GateRule& rule) {
    const int64_t rows = gate_up_n2i.size(0), all = gate_up_n2i.size(1);
    const int64_t width = rule.gated ? all / 2 : all;
    if (uses_own(OwnKernel::Swiglu, gate_up_n2i))
        return own::gate(rows_on(gate_up_n2i.device()), gate_up_n2i, rule);
    if (!gate_up_n2i.is_cpu()) return plain::gate(gate_up_n2i, rule);
    at::Tensor act_ni = at::empty({rows, width}, gate_up_n2i.options());
    with_element(gate_up_n2i, [&]<typename T>(T) {
        at::parallel_for(0, rows, kRowsPerTask, [&](int64_t begin, int64_t end) {
            fused<T>().gate_forward(rule, pointer<T>(gate_up_n2i) + begin * all,
                                    pointer<T>(act_ni) + begin * width, end - begin, width);
        });
    });
    return act_ni;
}

at::Tensor gate_backward(at::Tensor gate_up_n2i, const at::Tensor& dact_ni, const GateRule& rule,
                         at::Tensor act_ni) {
    const int64_t rows = gate_up_n2i.size(0), all = gate_up_n2i.size(1), width = dact_ni.size(1);
    if (!act_ni.defined()) act_ni = at::empty({rows, width}, gate_up_n2i.options());
    if (uses_own(OwnKernel::Swiglu, gate_up_n2i))
        return own::gate_backward(rows_on(gate_up_n2i.device()), gate_up_n2i, dact_ni, rule, act_ni);
    if (!gate_up_n2i.is_cpu()) return act_ni.copy_(plain::gate_backward(gate_up_n2i, dact_ni, rule));
    with_element(gate_up_n2i, [&]<typename T>(T) {
        at::parallel_for(0, rows, kRowsPerTask, [&](int64_t begin, int64_t end) {
            fused<T>().gate_backward(rule, pointer<T>(gate_up_n2i) + begin * all,
                                     pointer<T>(act_ni) + begin * width, pointer<T>(dact_ni) + begin * width,
                                     end - begin, width);
        });
    });
    return act_ni;
}

at::Tensor cross_entropy(at::Tensor logits_nv, const at::Tensor& labels_n, std::optional<double> scale) {
    const int64_t rows = logits_nv.size(0);
    const int64_t vocab = logits_nv.size(1);
    if (uses_own(OwnKernel::CrossEntropy, logits_nv))
        return own::cross_entropy(rows_on(logits_nv.device()), logits_nv, labels_n, scale);
    if (!logits_nv.is_cpu()) return plain::cross_entropy(logits_nv, labels_n, scale);
    at::Tensor loss_n = at::empty({rows}, logits_nv.options().dtype(at::kFloat));
    with_element(logits_nv, [&]<typename T>(T) {
        at::parallel_for(0, rows, 1, [&](int64_t begin, int64_t end) {
            fused<T>().cross_entropy(pointer<T>(logits_nv) + begin * vocab,
                                     pointer<int64_t>(labels_n) + begin, pointer<float>(loss_n) + begin,
                                     end - begin, vocab, static_cast<float>(scale.value_or(0)));
        });
    });
    return loss_n;
}

void accumulate_embedding_gradient(at::Tensor gradient_vw, const at::Tensor& ids_n, const at::Tensor& dx_nw) {
    if (!dx_nw.is_cpu()) {
        const Deterministic in_order(cuda_is_deterministic());
        gradient_vw.index_add_(0, ids_n, dx_nw.to(gradient_vw.scalar_type()));
        return;
    }
    const int64_t width = dx_nw.size(1);
    with_element(dx_nw, [&]<typename T>(T) {
        on_float_gradient(gradient_vw, 1, [&](at::Tensor sum) {
            at::parallel_for(0, width, kColumnsPerTask, [&](int64_t begin, int64_t end) {
                fused<T>().embedding_backward(pointer<float>(sum), pointer<int64_t>(ids_n), pointer<T>(dx_nw),
                                              dx_nw.size(0), width, begin, end);
            });
        });
    });
}

}  // namespace ringmaster
