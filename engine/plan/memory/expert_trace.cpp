// Traces a mixture of experts: allocates and frees what engine/model/expert_ops.cpp and
// engine/model/expert_machine.cpp do. A rank computes all experts of its tokens, so the number of rows is
// exact; if experts are divided among ranks, an even load is assumed, which gives the same number of rows.
#include <algorithm>

#include "engine/piece_sizes.h"
#include "engine/plan/memory/trace_machine.h"

namespace ringmaster {

namespace {

constexpr double kFloat = 4, kLong = 8;
constexpr std::string_view kRowsIn = "rows that experts read", kRowsOut = "rows that experts return",
                           kProduct = "product of gate and up";
constexpr double kRows = pieces::kExpertRows, kMostRows = pieces::kMostPaddedRows;

}  // namespace

TraceMachine::Routing TraceMachine::route(const Traced& x_nc, int64_t, const Traced& chosen_nk) {
    const double tokens = x_nc.rows(), experts = double(model().num_experts),
                 per_token = double(model().experts_per_token);
    Routing routing;
    const RouterRule& rule = model().router;
    const bool is_wide = rule.in_float32 || in_.element_bytes() == kFloat;
    {
        const bool widens = rule.in_float32 && in_.element_bytes() != kFloat;
        const Traced wide = sized(widens ? tokens + experts : 0, x_nc.columns(), kFloat);
        const Traced logits_ne = rule.norms_input ? linear(LoraSite::Router, x_nc)
                                 : rule.sigmoid && is_wide
                                     ? Traced()
                                     : sized(tokens, experts, is_wide ? kFloat : in_.element_bytes());
        routing.probabilities_ne = sized(tokens, experts, kFloat, kActivations);
    }
    const Traced ranked_ne = sized(rule.corrects ? tokens : 0, experts, kFloat);
    // The scores in the chosen groups, and a mask.
    if (rule.groups > 1) heap_.touch(tokens * experts * (kFloat + 1));
    routing.chosen_nk = chosen_nk.defined() ? chosen_nk : sized(tokens, per_token, kLong, kActivations);
    routing.weights_nk = sized(tokens, per_token, kFloat, kActivations);
    routing.slots_m = sized(tokens, per_token, kLong, kActivations);
    routing.rows_nk = sized(tokens, per_token, kLong, kActivations);
    heap_.touch(tokens * per_token * kLong);
    if (divides_experts() && local_experts() > 1)
        routing.arrivals_r = sized(2 * tokens, per_token, kLong, kActivations);
    return routing;
}

Traced TraceMachine::dequantize_experts(Role role) {
    Traced& held = held_experts_[role == Role::ExpertDown ? 1 : 0];
    if (!in_.quantization.on() || !in_.quantization.experts || held.defined()) return held;
    const double matrices =
        double(model().num_experts) * (role == Role::ExpertDown ? 1 : model().gate.columns());
    const Traced made = take(matrices * double(model().expert_intermediate_size),
                             double(model().expert_outer_size()), "experts from quantised weights");
    touch_dequantizing(made.elements());
    if (holds_) held = made;
    return made;
}

Traced TraceMachine::to_experts(Traced rows_mw, std::string_view name) {
    if (!divides_experts()) return rows_mw;
    Traced arrived = take(rows_mw.rows(), rows_mw.columns(), name);
    rows_mw.reset();
    return local_experts() > 1 ? take(arrived.rows(), arrived.columns(), name) : arrived;
}

Traced TraceMachine::from_experts(Traced rows_rw, std::string_view name) {
    if (!divides_experts()) return rows_rw;
    if (local_experts() > 1) rows_rw = Traced(take(rows_rw.rows(), rows_rw.columns(), name));
    return take(rows_rw.rows(), rows_rw.columns(), name);
}

Traced TraceMachine::rows_for_experts(const Traced& x_nc, const Routing& routing, std::string_view name) {
    return to_experts(take(routing.rows(), x_nc.columns(), name), name);
}

/// Allocates the product of all rows. Temporary copies are counted for one expert's rows, because the engine
/// computes one expert at a time.
Traced TraceMachine::grouped_product(Role role, const Traced& x_mi, double outputs, std::string_view name,
                                     MemoryPart part) {
    const Traced matrices = dequantize_experts(role);
    Traced y_mo = take(x_mi.rows(), outputs, name, part);
    widen(x_mi.rows() / local_experts(), x_mi.columns(), outputs);
    return y_mo;
}

/// Traces the sum of each token's rows. A GPU computes the sum in float32 first.
Traced TraceMachine::combine(const Traced& y_mc) {
    const double tokens = y_mc.rows() / double(model().experts_per_token), bytes = in_.element_bytes();
    if (!on_gpu()) return take(tokens, y_mc.columns());
    const bool is_wide = bytes == kFloat;
    const Traced sum_nc = sized(tokens, y_mc.columns(), kFloat);
    heap_.touch(tokens * y_mc.columns() * (bytes + (is_wide ? 0 : kFloat)));
    return is_wide ? sum_nc : take(tokens, y_mc.columns());
}

Traced TraceMachine::experts_gate_up(const Traced& x_nc, const Routing& routing) {
    const Traced x_mc = rows_for_experts(x_nc, routing, kRowsIn);
    return grouped_product(Role::ExpertGateUp, x_mc,
                           double(model().gate.columns() * model().expert_intermediate_size), "gate and up",
                           kActivations);
}

Traced TraceMachine::experts_output(const Traced& gate_up_m2i, const Routing&) {
    Traced act_mi = take(gate_up_m2i.rows(), gate_up_m2i.columns() / model().gate.columns(), kProduct);
    Traced y_mc = grouped_product(Role::ExpertDown, act_mi, double(model().expert_outer_size()), kRowsOut);
    act_mi.reset();
    return combine(from_experts(std::move(y_mc), kRowsOut));
}

void TraceMachine::expert_gradient(double outputs, double inputs, double rows) {
    const bool pads =
        !on_gpu() && in_.element_bytes() != kFloat && !in_.widens() && rows / local_experts() <= kMostRows;
    const Traced padded = take(pads ? rows / local_experts() : 0, std::min(outputs, inputs));
    gradient_product(outputs, inputs, rows / local_experts());
}

void TraceMachine::sum_row_products(double rows, double width) {
    const double wide = in_.element_bytes() == kFloat ? 0 : 2 * kFloat;
    heap_.touch(std::min(rows, kRows) * width * (kFloat + wide));
}

TraceMachine::WeighedGate TraceMachine::weighed_gate_backward(const Traced& gate_up_m2i,
                                                              const Traced& dact_mi) {
    WeighedGate made{on_gpu() ? gate(gate_up_m2i) : dact_mi, sized(dact_mi.rows(), 1, kFloat)};
    if (on_gpu()) sum_row_products(dact_mi.rows(), dact_mi.columns());
    return made;
}

void TraceMachine::add_share(const Traced&, const Traced&, const Traced& shares_n1) {
    heap_.touch(shares_n1.elements() * in_.element_bytes());
}

Traced TraceMachine::share_backward(const Traced& shares_n1, const Traced& dact_ni,
                                    const Traced& gate_up_n2i) {
    const Traced factors_n1 = sized(shares_n1.rows(), 1, kFloat);
    return weighed_gate_backward(gate_up_n2i, dact_ni).act_mi;
}

Traced TraceMachine::experts_down_backward(Traced dout_nc, const Traced& gate_up_m2i, const Routing& routing,
                                           double) {
    const double rows = routing.rows(), width = gate_up_m2i.columns() / model().gate.columns();
    const Traced dy_mc = rows_for_experts(dout_nc, routing, kRowsOut);
    dout_nc.reset();
    Traced dact_mi = grouped_product(Role::ExpertDown, dy_mc, width, kProduct);
    const Traced weights_m1 = sized(rows, 1, kFloat);
    const WeighedGate weighed = weighed_gate_backward(gate_up_m2i, dact_mi);
    dact_mi.reset();
    if (model().expert_biases) sum_row_products(rows / local_experts(), dy_mc.columns());
    if (!in_.lora.on()) expert_gradient(dy_mc.columns(), width, rows);
    return weighed.dweights_m;
}

TraceMachine::ExpertPull TraceMachine::pull_experts(const Traced& dgate_up_m2i, const Traced&,
                                                    const Routing& routing, int64_t) {
    const double tokens = routing.chosen_nk.rows(), experts = double(model().num_experts);
    heap_.touch(3 * tokens * experts * kFloat);  // gradients of probabilities
    return {*this, dgate_up_m2i, take(tokens, experts), routing};
}

void TraceMachine::ExpertPull::accumulate(const Traced&, const Traced& read_nw, double) const {
    const auto& adapted = machine.in_.lora.parameters;
    const bool is_adapted = std::find(adapted.begin(), adapted.end(), kExpertParameters[0]) != adapted.end();
    if (machine.in_.lora.on() && !is_adapted) return;
    const double rows = dgate_up_m2i.rows();
    const Traced x_mw = machine.rows_for_experts(read_nw, routing, kRowsIn);
    if (is_adapted) return;
    machine.expert_gradient(dgate_up_m2i.columns(), read_nw.columns(), rows);
}

Traced TraceMachine::ExpertPull::router_input(const Traced& read_nc, int64_t first, double beta) const {
    const TraceMachine::Pull pull = machine.pull(LoraSite::Router, dlogits_ne, first);
    pull.accumulate(read_nc, beta);
    return pull.input();
}

Traced TraceMachine::ExpertPull::experts_input() const {
    Traced dx_mc = machine.grouped_product(Role::ExpertGateUp, dgate_up_m2i,
                                           double(machine.model().expert_outer_size()), kRowsIn);
    return machine.combine(machine.from_experts(std::move(dx_mc), kRowsIn));
}

}  // namespace ringmaster
