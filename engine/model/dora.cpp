// Computes the part of an adapter that DoRA adds (engine/model/lora.h).
#include <ATen/ATen.h>

#include <algorithm>

#include "engine/model/lora.h"
#include "engine/model/ops.h"
#include "engine/piece_sizes.h"

namespace ringmaster {

namespace {

/// Sets old to beta · old + fresh; with beta 0 the old content is not read.
void accumulate(const at::Tensor& old, const at::Tensor& fresh, double beta) {
    if (beta == 0)
        old.copy_(fresh);
    else
        old.mul_(beta).add_(fresh);
}

/// Returns Σ_n a · b of each column, in float32.
at::Tensor column_products(const at::Tensor& a_no, const at::Tensor& b_no) {
    at::Tensor sum_o = at::zeros({a_no.size(1)}, a_no.options().dtype(at::kFloat));
    for (int64_t begin = 0; begin < a_no.size(0); begin += pieces::kDoraRows) {
        const int64_t some = std::min(pieces::kDoraRows, a_no.size(0) - begin);
        sum_o.add_((a_no.narrow(0, begin, some).to(at::kFloat) * b_no.narrow(0, begin, some)).sum(0));
    }
    return sum_o;
}

}  // namespace

at::Tensor Adapter::row_lengths(const Module& module, const at::Tensor& weight_oc) const {
    const at::Tensor a_rc = module.weights.a_rc.to(at::kFloat);
    at::Tensor lengths_o = at::empty({weight_oc.size(0)}, a_rc.options());
    for (int64_t begin = 0; begin < weight_oc.size(0); begin += pieces::kDoraRows) {
        const int64_t some = std::min(pieces::kDoraRows, weight_oc.size(0) - begin);
        const at::Tensor b_or = module.weights.b_or.narrow(0, begin, some).to(at::kFloat);
        at::Tensor adapted_oc = at::mm(b_or, a_rc).mul_(scale_);
        adapted_oc.add_(weight_oc.narrow(0, begin, some));
        lengths_o.narrow(0, begin, some).copy_(adapted_oc.norm(2, 1));
    }
    return lengths_o;
}

void Adapter::add_dora(const Module& module, const at::Tensor& x_nc, const at::Tensor& u_nr,
                       const at::Tensor& y_no, const FrozenLinear& frozen, bool decodes) const {
    const at::Tensor weight_oc = frozen.weight_oc.narrow(0, module.first_column, module.columns);
    const at::Tensor lengths_o = row_lengths(module, weight_oc);
    const at::Tensor factors_o = module.weights.magnitude_o / lengths_o;
    if (keys_2n_.defined()) {  // the frozen matrix reads x without dropout; DoRA's part reads x with dropout
        at::Tensor change_no = product(x_nc, weight_oc.t()).mul_(factors_o - 1);
        add_product(change_no, u_nr, module.weights.b_or.clone().mul_(factors_o.unsqueeze(1)).t());
        y_no.add_(change_no);
        return;
    }
    const bool has_bias = frozen.bias_o.defined();
    const at::Tensor bias_o =
        has_bias ? frozen.bias_o.narrow(0, module.first_column, module.columns) : at::Tensor();
    if (has_bias) y_no.sub_(bias_o);
    add_low_rank(y_no, u_nr, module.weights.b_or, decodes);
    y_no.mul_(factors_o);
    if (has_bias) y_no.add_(bias_o);
}

void AdapterBackward::accumulate_b(const Pull& pull, const at::Tensor& u_nr, double beta) const {
    const at::Tensor& gradient_or = pull.module.gradients.b_or;
    if (!pull.factors_o.defined())
        return accumulate_weight_gradient(gradient_or, dy_of(pull.module), u_nr, beta);
    const at::Tensor fresh_or = at::empty_like(gradient_or);
    accumulate_weight_gradient(fresh_or, dy_of(pull.module), u_nr, 0);
    ringmaster::accumulate(gradient_or, fresh_or.mul_(pull.factors_o.unsqueeze(1)), beta);
}

void AdapterBackward::accumulate_magnitude(const Pull& pull, const at::Tensor& x_nc, const at::Tensor& u_nr,
                                           double beta) const {
    at::Tensor y_no = product(x_nc, weight_of(pull.module).t());
    add_product(y_no, u_nr, pull.module.weights.b_or.t());
    const at::Tensor fresh_o = column_products(dy_of(pull.module), y_no).div_(pull.lengths_o);
    ringmaster::accumulate(pull.module.gradients.magnitude_o, fresh_o, beta);
}

}  // namespace ringmaster
