// Computes a mixture of experts with the weights of the current layer.
#include <ATen/ATen.h>

#include "engine/model/expert_exchange.h"
#include "engine/model/ops.h"
#include "engine/model/tensor_machine.h"

namespace ringmaster {

namespace {

/// Returns the routing of the rows that this rank's experts compute.
const Routing& rows_here(const Routing& routing) {
    return routing.exchange ? routing.exchange->here() : routing;
}

/// Returns the experts' results for this rank's tokens.
at::Tensor rows_of_tokens(at::Tensor rows_rw, const Routing& routing, const char* what) {
    return routing.exchange ? routing.exchange->from_experts(std::move(rows_rw), what) : rows_rw;
}

}  // namespace

at::Tensor TensorMachine::rows_for_experts(const at::Tensor& x_nc, const Routing& routing) const {
    at::Tensor x_mc = expert_rows(x_nc, routing);
    return routing.exchange ? routing.exchange->to_experts(std::move(x_mc), "tokens for experts") : x_mc;
}

at::Tensor TensorMachine::places_of(int64_t first, const at::Tensor& x_nc) const {
    if (places_n_.defined()) return places_n_.narrow(0, first, x_nc.size(0));
    return at::zeros({x_nc.size(0)}, x_nc.options().dtype(at::kLong));
}

at::Tensor TensorMachine::experts(Role role) const {
    if (quantized_ != nullptr && quantized_->holds_experts()) {
        const at::Tensor stored = quantized_->expert_matrices(role);
        return model_.experts_transposed ? stored.transpose(1, 2) : stored;
    }
    return role == Role::ExpertDown ? weights().experts_down_eci : weights().experts_gate_up_exc;
}

ExpertAdapter TensorMachine::expert_adapter(Role role) const {
    if (adapter_ == nullptr) return {};
    ExpertAdapter adapter = adapter_->of_experts(role == Role::ExpertDown ? 1 : 0);
    if (expert_group_)
        adapter.first_expert = expert_group_->rank() * (model_.num_experts / expert_group_->size());
    return adapter;
}

Routing TensorMachine::route(const at::Tensor& x_nc, int64_t first, const at::Tensor& chosen_nk) {
    const at::Tensor places_n = places_of(first, x_nc);
    const auto choose = [&](const ExpertRanks& ranks) {
        if (chosen_nk.defined()) return chosen_nk;
        const at::Tensor own_nk = best_experts(ranks, model_.experts_per_token);
        return expert_chooser_ ? expert_chooser_(layer_, places_n, ranks, own_nk) : own_nk;
    };
    const at::Tensor logits_ne =
        model_.router.norms_input ? linear(LoraSite::Router, x_nc, first) : at::Tensor();
    Routing routing = ringmaster::route(
        x_nc, weights().router_ec, model_.norms_expert_weights, choose, weights().router_bias_e,
        model_.router, parameters_.router_correction(layer_), weights().expert_scales_e, logits_ne);
    if (expert_group_)
        routing.exchange = std::make_shared<ExpertExchange>(*expert_group_, routing.begins, x_nc.device());
    const bool is_new = !chosen_nk.defined();
    if (is_new && router_loss_ != nullptr && router_loss_->counts()) router_loss_->count(routing, places_n);
    return routing;
}

at::Tensor TensorMachine::experts_gate_up(const at::Tensor& x_nc, const Routing& routing) const {
    const Routing& here = rows_here(routing);
    const at::Tensor x_mc = rows_for_experts(x_nc, routing);
    at::Tensor gate_up_m2i = grouped_linear(x_mc, experts(Role::ExpertGateUp), here);
    add_biases(gate_up_m2i, weights().experts_gate_up_bias_ex, here);
    expert_adapter(Role::ExpertGateUp).add_forward(gate_up_m2i, x_mc, here);
    return gate_up_m2i;
}

at::Tensor TensorMachine::experts_output(const at::Tensor& gate_up_m2i, const Routing& routing) const {
    const Routing& here = rows_here(routing);
    at::Tensor act_mi = gate(gate_up_m2i);
    at::Tensor y_mc = grouped_linear(act_mi, experts(Role::ExpertDown), here);
    add_biases(y_mc, weights().experts_down_bias_ec, here);
    expert_adapter(Role::ExpertDown).add_forward(y_mc, act_mi, here);
    act_mi.reset();
    y_mc = rows_of_tokens(std::move(y_mc), routing, "outputs of experts");
    return combine(y_mc, routing, true);
}

at::Tensor TensorMachine::experts_down_backward(at::Tensor dout_nc, const at::Tensor& gate_up_m2i,
                                                const Routing& routing, double beta) const {
    const Routing& here = rows_here(routing);
    const at::Tensor dy_mc = rows_for_experts(dout_nc, routing);
    dout_nc.reset();
    const ExpertAdapter adapter = expert_adapter(Role::ExpertDown);
    at::Tensor dact_mi = grouped_product(dy_mc, experts(Role::ExpertDown), here);
    adapter.add_input_gradient(dact_mi, dy_mc, here);
    at::Tensor weights_m1 = row_weights(routing);
    if (routing.exchange) weights_m1 = routing.exchange->to_experts(weights_m1, "weights of experts");
    const auto [act_mi, dweights_m] = weighed_gate_backward(gate_up_m2i, dact_mi, weights_m1, model_.gate);
    dact_mi.reset();
    add_bias_products(dweights_m, dy_mc, weights().experts_down_bias_ec, here);
    accumulate_grouped_gradient(gradients().experts_down_eci, dy_mc, act_mi, here, beta);
    accumulate_grouped_bias(gradients().experts_down_bias_ec, dy_mc, weights_m1, here, beta);
    adapter.accumulate(dy_mc, act_mi, here, beta);
    return rows_of_tokens(dweights_m.unsqueeze(1), routing, "gradients of experts' weights").squeeze(1);
}

TensorMachine::ExpertPull TensorMachine::pull_experts(const at::Tensor& dgate_up_m2i,
                                                      const at::Tensor& dweights_m, const Routing& routing,
                                                      int64_t first) const {
    at::Tensor of_loss_ne;
    if (router_loss_ != nullptr && !router_loss_->counts())
        of_loss_ne = router_loss_->gradient(places_of(first, routing.chosen_nk));
    Routing plain = routing;  // gets the weights without the experts' factors
    at::Tensor dplain_m = dweights_m, dscales_e;
    if (const at::Tensor& scales_e = weights().expert_scales_e; scales_e.defined()) {
        plain.weights_nk = weights_without_factors(routing, model_.norms_expert_weights, model_.router);
        const at::Tensor d_nk =
            dweights_m.index_select(0, routing.rows_nk.reshape({-1})).view_as(routing.chosen_nk);
        dscales_e = at::zeros_like(routing.probabilities_ne)
                        .scatter_(1, routing.chosen_nk, d_nk * plain.weights_nk)
                        .sum(0, true);
        const at::Tensor factors_nk = scales_e.index({routing.chosen_nk}).to(d_nk.scalar_type());
        dplain_m = (d_nk * factors_nk).reshape({-1}).index_select(0, routing.slots_m);
    }
    const at::Tensor dlogits_ne =
        router_backward(plain, dplain_m, model_.norms_expert_weights, of_loss_ne, model_.router);
    return {*this, dgate_up_m2i, dlogits_ne.to(dgate_up_m2i.scalar_type()), dscales_e, routing};
}

at::Tensor TensorMachine::ExpertPull::router_input(const at::Tensor& read_nc, int64_t first,
                                                   double beta) const {
    const TensorMachine::Pull pull = machine_.pull(LoraSite::Router, dlogits_ne_, first);
    pull.accumulate(read_nc, beta);
    return pull.input();
}

void TensorMachine::ExpertPull::accumulate(const at::Tensor& x_nc, const at::Tensor& read_nw,
                                           double beta) const {
    const LayerTensors& gradients = machine_.gradients();
    const bool reads_alike = !machine_.model_.router.norms_input;
    if (reads_alike) accumulate_weight_gradient(gradients.router_ec, dlogits_ne_, x_nc, beta);
    if (reads_alike) accumulate_bias_gradient(gradients.router_bias_e, dlogits_ne_, beta);
    if (dscales_e_.defined()) accumulate_bias_gradient(gradients.expert_scales_e, dscales_e_, beta);
    const Routing& here = rows_here(routing_);
    accumulate_grouped_bias(gradients.experts_gate_up_bias_ex, dgate_up_m2i_, {}, here, beta);
    const ExpertAdapter adapter = machine_.expert_adapter(Role::ExpertGateUp);
    if (!gradients.experts_gate_up_exc.defined() && !adapter.on()) return;
    const at::Tensor x_mw = machine_.rows_for_experts(read_nw, routing_);
    accumulate_grouped_gradient(gradients.experts_gate_up_exc, dgate_up_m2i_, x_mw, here, beta);
    adapter.accumulate(dgate_up_m2i_, x_mw, here, beta);
}

at::Tensor TensorMachine::ExpertPull::experts_input() const {
    const Routing& here = rows_here(routing_);
    at::Tensor dx_mc = grouped_product(dgate_up_m2i_, machine_.experts(Role::ExpertGateUp), here);
    machine_.expert_adapter(Role::ExpertGateUp).add_input_gradient(dx_mc, dgate_up_m2i_, here);
    dx_mc = rows_of_tokens(std::move(dx_mc), routing_, "gradients of tokens");
    return combine(dx_mc, routing_, false);
}

void TensorMachine::ExpertPull::add_router_input(const at::Tensor& dx_nc) const {
    if (!machine_.model_.router.norms_input) add_product(dx_nc, dlogits_ne_, machine_.weights().router_ec);
}

void TensorMachine::add_share(const at::Tensor& out_nc, const at::Tensor& y_nc,
                              const at::Tensor& shares_n1) const {
    out_nc.addcmul_(y_nc, at::sigmoid(shares_n1));
}

at::Tensor TensorMachine::share_backward(const at::Tensor& shares_n1, const at::Tensor& dact_ni,
                                         const at::Tensor& gate_up_n2i) const {
    const at::Tensor factors_n1 = at::sigmoid(shares_n1.to(at::kFloat));
    const auto [act_ni, dfactors_n] = weighed_gate_backward(gate_up_n2i, dact_ni, factors_n1, model_.gate);
    shares_n1.copy_(at::sigmoid_backward(dfactors_n.unsqueeze(1), factors_n1));
    return act_ni;
}

}  // namespace ringmaster
