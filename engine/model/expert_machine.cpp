// Computes a mixture of experts with the weights of the current layer.
#include <ATen/ATen.h>

#include "engine/model/ops.h"
#include "engine/model/tensor_machine.h"

namespace ringmaster {

at::Tensor TensorMachine::places_of(int64_t first, const at::Tensor& x_nc) const {
    if (places_n_.defined()) return places_n_.narrow(0, first, x_nc.size(0));
    return at::zeros({x_nc.size(0)}, x_nc.options().dtype(at::kLong));
}

Routing TensorMachine::route(const at::Tensor& x_nc, int64_t first, const at::Tensor& chosen_nk) {
    const at::Tensor places_n = places_of(first, x_nc);
    const auto choose = [&](const at::Tensor& probabilities_ne) {
        if (chosen_nk.defined()) return chosen_nk;
        const at::Tensor own_nk = most_probable(probabilities_ne, model_.experts_per_token);
        return expert_chooser_ ? expert_chooser_(layer_, places_n, probabilities_ne, own_nk) : own_nk;
    };
    Routing routing = ringmaster::route(x_nc, weights().router_ec, model_.norms_expert_weights, choose);
    const bool is_new = !chosen_nk.defined();
    if (is_new && router_loss_ != nullptr && router_loss_->counts()) router_loss_->count(routing, places_n);
    return routing;
}

at::Tensor TensorMachine::experts_gate_up(const at::Tensor& x_nc, const Routing& routing) const {
    return grouped_linear(expert_rows(x_nc, routing), weights().experts_gate_up_exc, routing);
}

at::Tensor TensorMachine::experts_output(const at::Tensor& gate_up_m2i, const Routing& routing) const {
    const at::Tensor y_mc = grouped_linear(gate(gate_up_m2i), weights().experts_down_eci, routing);
    return combine(y_mc, routing, true);
}

at::Tensor TensorMachine::experts_down_backward(at::Tensor dout_nc, const at::Tensor& gate_up_m2i,
                                                const Routing& routing, double beta) const {
    const at::Tensor dy_mc = expert_rows(dout_nc, routing);
    dout_nc.reset();
    at::Tensor dact_mi = grouped_product(dy_mc, weights().experts_down_eci, routing);
    const at::Tensor act_mi = gate_backward(gate_up_m2i, dact_mi, {});  // not weighed yet
    const at::Tensor weights_m1 = row_weights(routing);
    const at::Tensor dweights_m = row_products(dact_mi, act_mi);
    dact_mi.reset();
    weigh_rows(gate_up_m2i, weights_m1);
    weigh_rows(act_mi, weights_m1);
    accumulate_grouped_gradient(gradients().experts_down_eci, dy_mc, act_mi, routing, beta);
    return dweights_m;
}

TensorMachine::ExpertPull TensorMachine::pull_experts(const at::Tensor& dgate_up_m2i,
                                                      const at::Tensor& dweights_m, const Routing& routing,
                                                      int64_t first) const {
    at::Tensor of_loss_ne;
    if (router_loss_ != nullptr && !router_loss_->counts())
        of_loss_ne = router_loss_->gradient(places_of(first, routing.chosen_nk));
    const at::Tensor dlogits_ne =
        router_backward(routing, dweights_m, model_.norms_expert_weights, of_loss_ne);
    return {*this, dgate_up_m2i, dlogits_ne.to(dgate_up_m2i.scalar_type()), routing};
}

void TensorMachine::ExpertPull::accumulate(const at::Tensor& x_nc, double beta) const {
    const LayerTensors& gradients = machine_.gradients();
    accumulate_weight_gradient(gradients.router_ec, dlogits_ne_, x_nc, beta);
    if (!gradients.experts_gate_up_exc.defined()) return;
    accumulate_grouped_gradient(gradients.experts_gate_up_exc, dgate_up_m2i_, expert_rows(x_nc, routing_),
                                routing_, beta);
}

at::Tensor TensorMachine::ExpertPull::input() const {
    at::Tensor dx_nc = combine(
        grouped_product(dgate_up_m2i_, machine_.weights().experts_gate_up_exc, routing_), routing_, false);
    add_product(dx_nc, dlogits_ne_, machine_.weights().router_ec);
    return dx_nc;
}

void TensorMachine::add_share(const at::Tensor& out_nc, const at::Tensor& y_nc,
                              const at::Tensor& shares_n1) const {
    out_nc.addcmul_(y_nc, at::sigmoid(shares_n1));
}

void TensorMachine::share_backward(const at::Tensor& shares_n1, const at::Tensor& dact_ni,
                                   const at::Tensor& act_ni, const at::Tensor& gate_up_n2i) const {
    const at::Tensor dshares_n1 = row_products(dact_ni, act_ni).unsqueeze(1);
    const at::Tensor factors_n1 = at::sigmoid(shares_n1.to(dshares_n1.scalar_type()));
    weigh_rows(act_ni, factors_n1);
    weigh_rows(gate_up_n2i, factors_n1);
    shares_n1.copy_(at::sigmoid_backward(dshares_n1, factors_n1));
}

}  // namespace ringmaster
