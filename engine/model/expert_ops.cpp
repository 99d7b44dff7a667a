#include "engine/model/expert_ops.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>

#include "engine/kernels/expert_rows.h"
#include "engine/model/kernel_elements.h"
#include "engine/model/ops.h"
#include "engine/piece_sizes.h"
#include "engine/plan/speeds.h"

namespace ringmaster {

namespace {

at::ScalarType wide(const at::Tensor& x) {
    return x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
}

constexpr int64_t kRowsPerTask = 64;

/// Returns whether the CPU's kernels compute with this tensor's elements.
bool has_kernels(const at::Tensor& x) {
    return x.is_cpu() && x.scalar_type() != at::kDouble;
}

/// For each new number of rows, LibTorch compiles another bfloat16 kernel. This takes a quarter of the time
/// of a product of 512 rows, 512 columns and a depth of 768. There are so few multiples of kRowStep and
/// numbers below kRowStep that their kernels stay cached. Above kMostRows, the product takes much longer than
/// compiling.
constexpr int64_t kRowStep = 32, kMostRows = pieces::kMostPaddedRows;

bool is_compiled(const at::Tensor& x, int64_t rows) {
    return x.is_cpu() && x.scalar_type() == at::kBFloat16 && rows <= kMostRows && cpu_has_bfloat16();
}

/// Calls `body` with all rows of one expert, or first with the largest multiple of kRowStep rows and then
/// with the rest.
template <class Body>
void for_compiled_rows(const at::Tensor& x, int64_t begin, int64_t count, const Body& body) {
    const int64_t whole = is_compiled(x, count) ? count / kRowStep * kRowStep : count;
    if (whole > 0) body(begin, whole);
    if (whole < count) body(begin + whole, count - whole);
}

/// Returns a copy of rows [first, first + count) in a tensor of `all` rows that are zero elsewhere.
at::Tensor between_zeros(const at::Tensor& rows_nw, int64_t first, int64_t all) {
    const int64_t count = rows_nw.size(0), end = first + count;
    at::Tensor wide_nw = at::empty({all, rows_nw.size(1)}, rows_nw.options());
    wide_nw.narrow(0, 0, first).zero_();
    wide_nw.narrow(0, first, count).copy_(rows_nw);
    wide_nw.narrow(0, end, all - end).zero_();
    return wide_nw;
}

/// Computes accumulate_weight_gradient of one expert's rows. If their number is not a multiple of kRowStep,
/// adds rows of other experts, which are replaced by zeros in the narrower of dy and x.
void accumulate_compiled_gradient(const at::Tensor& gradient_oi, const at::Tensor& dy_mo,
                                  const at::Tensor& x_mi, int64_t begin, int64_t count, double beta) {
    const int64_t all = (count + kRowStep - 1) / kRowStep * kRowStep;
    if (!is_compiled(x_mi, count) || all == count || all > x_mi.size(0)) {
        accumulate_weight_gradient(gradient_oi, dy_mo.narrow(0, begin, count), x_mi.narrow(0, begin, count),
                                   beta);
        return;
    }
    const int64_t from = std::min(begin, x_mi.size(0) - all);
    const bool is_x_narrower = x_mi.size(1) < dy_mo.size(1);
    const at::Tensor narrower = (is_x_narrower ? x_mi : dy_mo).narrow(0, begin, count);
    const at::Tensor padded = between_zeros(narrower, begin - from, all);
    accumulate_weight_gradient(gradient_oi, is_x_narrower ? dy_mo.narrow(0, from, all) : padded,
                               is_x_narrower ? padded : x_mi.narrow(0, from, all), beta);
}

/// Returns the first row of each expert, then the end of the last expert's rows.
std::vector<int64_t> begins_of(const at::Tensor& chosen_m, int64_t experts) {
    const at::Tensor counts_e = at::bincount(chosen_m, {}, experts).cpu();
    std::vector<int64_t> begins = {0};
    for (int64_t expert = 0; expert < experts; ++expert)
        begins.push_back(begins.back() + counts_e.const_data_ptr<int64_t>()[expert]);
    return begins;
}

/// Calls `body` for a limited number of rows at a time, because on a CPU an operation on two dtypes makes
/// widened copies of its inputs.
template <class Body>
void for_rows(const at::Tensor& x_mw, const Body& body) {
    constexpr int64_t kRows = pieces::kExpertRows;
    for (int64_t begin = 0; begin < x_mw.size(0); begin += kRows)
        body(begin, std::min(kRows, x_mw.size(0) - begin));
}

/// Returns the gradient of a softmax's input, given the gradient of its output.
at::Tensor softmax_backward(const at::Tensor& d, const at::Tensor& output) {
    return (d - (d * output).sum(1, true)).mul_(output);
}

/// Returns the sums of the chosen probabilities, [N, 1]. The sum of sigmoids may be 0.
at::Tensor chosen_sums(const Routing& routing, const RouterRule& rule) {
    return routing.probabilities_ne.gather(1, routing.chosen_nk).sum(1, true).add_(rule.least_sum);
}

at::Tensor logits_of(const at::Tensor& x_nc, const at::Tensor& router_ec, const at::Tensor& bias_e,
                     const RouterRule& rule) {
    return rule.in_float32 ? linear(x_nc.to(wide(x_nc)), router_ec.to(wide(x_nc)), bias_e)
                           : linear(x_nc, router_ec, bias_e);
}

at::Tensor scores_of(const at::Tensor& x_nc, const at::Tensor& logits_ne, const RouterRule& rule) {
    return rule.sigmoid ? logits_ne.to(wide(x_nc)).sigmoid_() : at::softmax(logits_ne, 1, wide(x_nc));
}

}  // namespace

at::Tensor weights_without_factors(const Routing& routing, bool norms, const RouterRule& rule) {
    at::Tensor weights_nk = routing.probabilities_ne.gather(1, routing.chosen_nk);
    if (norms) weights_nk.div_(chosen_sums(routing, rule));
    if (rule.scale != 1) scale_in_place(weights_nk, rule.scale);
    return weights_nk;
}

Routing route(const at::Tensor& x_nc, const at::Tensor& router_ec, bool norms, const ExpertChooser& choose,
              const at::Tensor& bias_e, const RouterRule& rule, const at::Tensor& correction_e,
              const at::Tensor& scales_e, const at::Tensor& logits_ne) {
    Routing routing;
    routing.probabilities_ne =
        scores_of(x_nc, logits_ne.defined() ? logits_ne : logits_of(x_nc, router_ec, bias_e, rule), rule);
    routing.chosen_nk = choose(rank_experts(routing.probabilities_ne, rule, correction_e));
    routing.weights_nk = weights_without_factors(routing, norms, rule);
    if (scales_e.defined()) routing.weights_nk.mul_(scales_e.index({routing.chosen_nk}));
    const at::Tensor chosen_m = routing.chosen_nk.reshape({-1});
    routing.slots_m = at::argsort(chosen_m, /*stable=*/true, 0, false);
    routing.rows_nk = at::empty_like(routing.slots_m);
    routing.rows_nk.scatter_(0, routing.slots_m,
                             at::arange(routing.slots_m.size(0), routing.slots_m.options()));
    routing.rows_nk = routing.rows_nk.view(routing.chosen_nk.sizes());
    routing.begins = begins_of(chosen_m, routing.probabilities_ne.size(1));
    return routing;
}

at::Tensor expert_rows(const at::Tensor& x_nc, const Routing& routing) {
    return x_nc.index_select(0, at::div(routing.slots_m, routing.per_token(), "floor"));
}

at::Tensor row_weights(const Routing& routing) {
    return routing.weights_nk.reshape({-1}).index_select(0, routing.slots_m).unsqueeze(1);
}

at::Tensor row_products(const at::Tensor& a_mw, const at::Tensor& b_mw) {
    at::Tensor sums_m = at::empty({a_mw.size(0)}, a_mw.options().dtype(wide(a_mw)));
    for_rows(a_mw, [&](int64_t begin, int64_t count) {
        const at::Tensor a = a_mw.narrow(0, begin, count).to(wide(a_mw));
        sums_m.narrow(0, begin, count).copy_((a * b_mw.narrow(0, begin, count).to(wide(a_mw))).sum(1));
    });
    return sums_m;
}

WeighedGate weighed_gate_backward(const at::Tensor& gate_up_m2i, const at::Tensor& dact_mi,
                                  const at::Tensor& weights_m1, const GateRule& rule) {
    if (!has_kernels(gate_up_m2i)) {
        const at::Tensor act_mi = gate_backward(gate_up_m2i, dact_mi, rule);
        const at::Tensor dweights_m = row_products(dact_mi, act_mi);
        act_mi.mul_(weights_m1);
        gate_up_m2i.mul_(weights_m1);
        return {act_mi, dweights_m};
    }
    const int64_t rows = dact_mi.size(0), width = dact_mi.size(1), all = gate_up_m2i.size(1);
    const at::Tensor dweights_m = at::empty({rows}, weights_m1.options());
    with_element(gate_up_m2i, [&]<typename T>(T) {
        T* const act = pointer<T>(dact_mi);
        at::parallel_for(0, rows, kRowsPerTask, [&](int64_t begin, int64_t end) {
            expert_rows_kernels<T>().gate_backward(
                rule, pointer<T>(gate_up_m2i) + begin * all, act + begin * width, act + begin * width,
                pointer<float>(weights_m1) + begin, pointer<float>(dweights_m) + begin, end - begin, width);
        });
    });
    return {dact_mi, dweights_m};
}

at::Tensor combine(const at::Tensor& y_mc, const Routing& routing, bool weighted) {
    const int64_t tokens = routing.chosen_nk.size(0), per_token = routing.per_token(), width = y_mc.size(1);
    if (has_kernels(y_mc)) {
        at::Tensor out_nc = at::empty({tokens, width}, y_mc.options());
        with_element(y_mc, [&]<typename T>(T) {
            at::parallel_for(0, tokens, kRowsPerTask, [&](int64_t begin, int64_t end) {
                const float* const weights =
                    weighted ? pointer<float>(routing.weights_nk) + begin * per_token : nullptr;
                expert_rows_kernels<T>().combine(
                    pointer<T>(y_mc), pointer<int64_t>(routing.rows_nk) + begin * per_token, weights,
                    pointer<T>(out_nc) + begin * width, end - begin, per_token, width);
            });
        });
        return out_nc;
    }
    at::Tensor sum_nc = at::zeros({tokens, width}, y_mc.options().dtype(wide(y_mc)));
    for (int64_t j = 0; j < per_token; ++j) {
        const at::Tensor y_nc = y_mc.index_select(0, routing.rows_nk.select(1, j)).to(sum_nc.scalar_type());
        if (weighted)
            sum_nc.addcmul_(y_nc, routing.weights_nk.narrow(1, j, 1));
        else
            sum_nc.add_(y_nc);
    }
    return sum_nc.to(y_mc.scalar_type());
}

at::Tensor grouped_linear(const at::Tensor& x_mi, const at::Tensor& weight_eoi, const Routing& routing) {
    at::Tensor y_mo = at::empty({x_mi.size(0), weight_eoi.size(1)}, x_mi.options());
    for_experts(routing, [&](int64_t expert, int64_t begin, int64_t count) {
        const at::Tensor weight_io = weight_eoi[expert].t();
        for_compiled_rows(x_mi, begin, count, [&](int64_t first, int64_t rows) {
            product_out(y_mo.narrow(0, first, rows), x_mi.narrow(0, first, rows), weight_io);
        });
    });
    return y_mo;
}

at::Tensor grouped_product(const at::Tensor& dy_mo, const at::Tensor& weight_eoi, const Routing& routing) {
    at::Tensor dx_mi = at::empty({dy_mo.size(0), weight_eoi.size(2)}, dy_mo.options());
    for_experts(routing, [&](int64_t expert, int64_t begin, int64_t count) {
        const at::Tensor weight_oi = weight_eoi[expert];
        for_compiled_rows(dy_mo, begin, count, [&](int64_t first, int64_t rows) {
            product_out(dx_mi.narrow(0, first, rows), dy_mo.narrow(0, first, rows), weight_oi);
        });
    });
    return dx_mi;
}

void add_biases(const at::Tensor& y_mo, const at::Tensor& bias_eo, const Routing& routing) {
    if (!bias_eo.defined()) return;
    for_experts(routing, [&](int64_t expert, int64_t begin, int64_t count) {
        y_mo.narrow(0, begin, count).add_(bias_eo[expert]);
    });
}

void add_bias_products(const at::Tensor& sums_m, const at::Tensor& dy_mo, const at::Tensor& bias_eo,
                       const Routing& routing) {
    if (!bias_eo.defined()) return;
    for_experts(routing, [&](int64_t expert, int64_t begin, int64_t count) {
        const at::Tensor dy = dy_mo.narrow(0, begin, count);
        sums_m.narrow(0, begin, count).add_(row_products(dy, bias_eo[expert].expand_as(dy)));
    });
}

void accumulate_grouped_bias(const at::Tensor& gradient_eo, const at::Tensor& dy_mo,
                             const at::Tensor& weights_m1, const Routing& routing, double beta) {
    if (!gradient_eo.defined()) return;
    if (beta == 0) gradient_eo.zero_();
    for_experts(routing, [&](int64_t expert, int64_t begin, int64_t count) {
        for_rows(dy_mo.narrow(0, begin, count), [&](int64_t first, int64_t rows) {
            at::Tensor dy = dy_mo.narrow(0, begin + first, rows);
            if (weights_m1.defined()) dy = dy * weights_m1.narrow(0, begin + first, rows);
            gradient_eo[expert].add_(at::sum(dy, 0, false, wide(dy)));
        });
    });
}

void accumulate_grouped_gradient(const at::Tensor& gradient_eoi, const at::Tensor& dy_mo,
                                 const at::Tensor& x_mi, const Routing& routing, double beta) {
    if (!gradient_eoi.defined()) return;
    for (size_t expert = 0; beta == 0 && expert + 1 < routing.begins.size(); ++expert) {
        if (routing.begins[expert] == routing.begins[expert + 1])
            gradient_eoi[static_cast<int64_t>(expert)].zero_();
    }
    for_experts(routing, [&](int64_t expert, int64_t begin, int64_t count) {
        accumulate_compiled_gradient(gradient_eoi[expert], dy_mo, x_mi, begin, count, beta);
    });
}

at::Tensor router_backward(const Routing& routing, const at::Tensor& dweights_m, bool norms,
                           const at::Tensor& dprobabilities_ne, const RouterRule& rule) {
    at::Tensor d_nk = dweights_m.index_select(0, routing.rows_nk.reshape({-1})).view_as(routing.chosen_nk);
    if (rule.scale != 1) d_nk = d_nk * rule.scale;
    const at::Tensor& all_ne = routing.probabilities_ne;
    const bool has_other = dprobabilities_ne.defined();
    if (norms && !rule.sigmoid) {  // the weights are the softmax of the chosen experts' logits alone
        at::Tensor d_ne = has_other ? softmax_backward(dprobabilities_ne, all_ne) : at::zeros_like(all_ne);
        return d_ne.scatter_add_(1, routing.chosen_nk,
                                 softmax_backward(d_nk, routing.weights_nk / rule.scale));
    }
    if (norms) {
        const at::Tensor dsum_n1 = (d_nk * routing.weights_nk).sum(1, true).div_(rule.scale);
        d_nk = (d_nk - dsum_n1).div_(chosen_sums(routing, rule));
    }
    at::Tensor d_ne = has_other ? dprobabilities_ne.clone() : at::zeros_like(all_ne);
    d_ne.scatter_add_(1, routing.chosen_nk, d_nk);
    return rule.sigmoid ? at::sigmoid_backward(d_ne, all_ne) : softmax_backward(d_ne, all_ne);
}

}  // namespace ringmaster
