#include "engine/check/plain_policy.h"

#include <ATen/ATen.h>

namespace ringmaster {

at::Tensor plain_policy_loss(const PolicyRule& rule, const PlainRollouts& rollouts,
                             const at::Tensor& log_p_l) {
    const at::Tensor& document_l = rollouts.document_l;
    const at::Tensor none_d = at::zeros_like(rollouts.advantage_d);
    const auto sums = [&](const at::Tensor& of_labels) { return none_d.index_add(0, document_l, of_labels); };
    const at::Tensor labels_d = sums(at::ones_like(log_p_l)).clamp_min(1);
    at::Tensor log_ratio_l = log_p_l - rollouts.old_l;
    if (rule.by_sequence) log_ratio_l = (sums(log_ratio_l) / labels_d).index_select(0, document_l);
    const at::Tensor ratio_l = at::exp(log_ratio_l);
    const at::Tensor advantage_l = rollouts.advantage_d.index_select(0, document_l);
    at::Tensor loss_l = -at::minimum(
        ratio_l * advantage_l, at::clamp(ratio_l, 1 - rule.epsilon_low, 1 + rule.epsilon_high) * advantage_l);
    if (rollouts.factor_l.defined()) loss_l = loss_l * rollouts.factor_l;
    if (rule.beta != 0) {
        const at::Tensor relative_l = at::exp(rollouts.reference_l - log_p_l);
        loss_l = loss_l + rule.beta * ratio_l * (relative_l - at::log(relative_l) - 1);
    }
    if (rule.loss == PolicyLoss::Dapo) return loss_l.mean();
    if (rule.loss == PolicyLoss::Grpo) return (sums(loss_l) / labels_d).mean();
    return (sums(loss_l) / static_cast<double>(rule.answer_tokens)).mean();
}

}  // namespace ringmaster
