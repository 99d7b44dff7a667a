#include "engine/check/plain_experts.h"

#include <ATen/ATen.h>

namespace ringmaster {
namespace {

at::Tensor plain_activation(const at::Tensor& x, Activation activation) {
    if (activation == Activation::Silu) return at::silu(x);
    if (activation == Activation::Relu2) return at::relu(x).square();
    return at::gelu(x, activation == Activation::GeluTanh ? "tanh" : "none");
}

}  // namespace

at::Tensor plain_gate(const at::Tensor& both_n2i, const GateRule& rule) {
    if (rule.is_clamped()) {
        const at::Tensor pairs = both_n2i.unflatten(1, {-1, 2});
        const at::Tensor gate = at::clamp_max(pairs.select(2, 0), rule.limit);
        return gate * at::sigmoid(rule.slope * gate) *
               (at::clamp(pairs.select(2, 1), -rule.limit, rule.limit) + 1);
    }
    if (!rule.gated) return plain_activation(both_n2i, rule.activation);
    const int64_t width = both_n2i.size(1) / 2;
    return plain_activation(both_n2i.narrow(1, 0, width), rule.activation) * both_n2i.narrow(1, width, width);
}

namespace {

/// Returns the chosen experts. Source: DeepSeek-AI 2024, "DeepSeek-V3", arXiv 2412.19437, section 2.1.2.
at::Tensor chosen_experts(const ModelConfig& m, at::Tensor ranks_ne) {
    const RouterRule& router = m.router;
    if (router.groups > 1) {
        const at::Tensor ranks_nge = ranks_ne.unflatten(1, {router.groups, -1});
        const at::Tensor of_groups_ng = std::get<0>(ranks_nge.topk(router.best_of_group, 2)).sum(2);
        const at::Tensor taken_ng =
            at::zeros_like(of_groups_ng, at::kBool)
                .scatter(1, std::get<1>(of_groups_ng.topk(router.chosen_groups, 1)), 1);
        ranks_ne = ranks_nge.masked_fill(taken_ng.logical_not().unsqueeze(2), -1e30).flatten(1);
    }
    return std::get<1>(ranks_ne.topk(m.experts_per_token, 1));
}

}  // namespace

PlainMixture plain_mixture(const ModelConfig& m, const PlainExperts& experts, const at::Tensor& x_nc) {
    PlainMixture mixture;
    at::Tensor logits_ne =
        experts.logits_ne.defined() ? experts.logits_ne : at::matmul(x_nc, experts.router_ec.t());
    if (m.expert_biases) logits_ne = logits_ne + experts.router_bias_e;
    mixture.probabilities_ne = m.router.sigmoid ? at::sigmoid(logits_ne) : at::softmax(logits_ne, 1);
    const at::Tensor scores_ne = mixture.probabilities_ne.detach();
    mixture.chosen_nk =
        chosen_experts(m, experts.correction_e.defined() ? scores_ne + experts.correction_e : scores_ne);
    at::Tensor weights_nk = mixture.probabilities_ne.gather(1, mixture.chosen_nk);
    if (m.norms_expert_weights) weights_nk = weights_nk / (weights_nk.sum(1, true) + m.router.least_sum);
    weights_nk = weights_nk * m.router.scale;
    if (experts.scales_e.defined())
        weights_nk = weights_nk * at::index(experts.scales_e, {mixture.chosen_nk});
    mixture.y_nc = at::zeros_like(x_nc);
    for (int64_t expert = 0; expert < m.num_experts; ++expert) {
        const at::Tensor taken_2r = at::nonzero(mixture.chosen_nk.eq(expert)).t();
        if (taken_2r.size(1) == 0) continue;
        at::Tensor both = at::matmul(x_nc.index_select(0, taken_2r[0]), experts.gate_up_exc[expert].t());
        if (m.expert_biases) both = both + experts.gate_up_bias_ex[expert];
        at::Tensor y_rc = at::matmul(plain_gate(both, m.gate), experts.down_eci[expert].t());
        if (m.expert_biases) y_rc = y_rc + experts.down_bias_ec[expert];
        const at::Tensor share = at::index(weights_nk, {taken_2r[0], taken_2r[1]}).unsqueeze(1);
        mixture.y_nc = mixture.y_nc.index_add(0, taken_2r[0], share * y_rc);
    }
    return mixture;
}

at::Tensor plain_router_gradient(const ModelConfig& m, Groups& groups,
                                 const std::vector<PlainMixture>& layers) {
    if (!m.adds_router_loss) return {};
    at::Tensor chosen_e =
        at::zeros({m.num_experts + 1}, at::TensorOptions().dtype(at::kDouble).device(groups.device()));
    for (const PlainMixture& layer : layers) {
        if (!layer.chosen_nk.defined()) continue;
        chosen_e.narrow(0, 0, m.num_experts)
            .add_(at::bincount(layer.chosen_nk.reshape({-1}), {}, m.num_experts));
        chosen_e[m.num_experts].add_(layer.chosen_nk.size(0));
    }
    groups.world().all_reduce(chosen_e).wait();
    const at::Tensor tokens = chosen_e[m.num_experts];
    const double weight = m.router_loss_coefficient * static_cast<double>(m.num_experts);
    return (chosen_e.narrow(0, 0, m.num_experts) / tokens / tokens * weight).to(at::kFloat);
}

}  // namespace ringmaster
