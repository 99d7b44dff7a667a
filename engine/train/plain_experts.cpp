#include "engine/train/plain_experts.h"

#include <ATen/ATen.h>

namespace ringmaster {

at::Tensor plain_activation(const at::Tensor& x, Activation activation) {
    switch (activation) {
        case Activation::Silu:
            return at::silu(x);
        case Activation::GeluTanh:
            return at::gelu(x, "tanh");
        case Activation::Gelu:
            return at::gelu(x);
        case Activation::Relu2:
            break;
    }
    return at::relu(x).square();
}

PlainMixture plain_mixture(const ModelConfig& m, const PlainExperts& experts, const at::Tensor& x_nc) {
    PlainMixture mixture;
    mixture.probabilities_ne = at::softmax(at::matmul(x_nc, experts.router_ec.t()), 1);
    mixture.chosen_nk = std::get<1>(mixture.probabilities_ne.detach().topk(m.experts_per_token, 1));
    at::Tensor weights_nk = mixture.probabilities_ne.gather(1, mixture.chosen_nk);
    if (m.norms_expert_weights) weights_nk = weights_nk / weights_nk.sum(1, true);
    mixture.y_nc = at::zeros_like(x_nc);
    const int64_t width = m.expert_intermediate_size;
    for (int64_t expert = 0; expert < m.num_experts; ++expert) {
        const at::Tensor taken_2r = at::nonzero(mixture.chosen_nk.eq(expert)).t();
        if (taken_2r.size(1) == 0) continue;
        const at::Tensor both =
            at::matmul(x_nc.index_select(0, taken_2r[0]), experts.gate_up_exc[expert].t());
        const at::Tensor act =
            plain_activation(both.narrow(1, 0, width), m.gate.activation) * both.narrow(1, width, width);
        const at::Tensor share = at::index(weights_nk, {taken_2r[0], taken_2r[1]}).unsqueeze(1);
        mixture.y_nc =
            mixture.y_nc.index_add(0, taken_2r[0], share * at::matmul(act, experts.down_eci[expert].t()));
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
