#include "engine/check/plain_preferences.h"

#include <ATen/ATen.h>

#include <cmath>

namespace ringmaster {

namespace {

at::Tensor every_second(const at::Tensor& of_documents, int64_t first) {
    return of_documents.slice(0, first, at::indexing::None, 2);
}

/// Holds the log-probabilities of chosen and rejected completions minus the reference's, and their means over
/// labels.
struct Scores {
    at::Tensor chosen_p, rejected_p, chosen_mean_p, rejected_mean_p;

    at::Tensor delta() const { return chosen_p - rejected_p; }
    at::Tensor mean_delta() const { return chosen_mean_p - rejected_mean_p; }
};

Scores scores_of(const PlainFacts& facts, const at::Tensor& completions_d) {
    const at::Tensor ratios_d = completions_d - facts.reference_d, means_d = ratios_d / facts.labels_d;
    return {every_second(ratios_d, 0), every_second(ratios_d, 1), every_second(means_d, 0),
            every_second(means_d, 1)};
}

at::Tensor cross_entropy_of_answers(const at::Tensor& logits_p, double flipped) {
    const at::Tensor likes = at::full_like(logits_p, 1 - flipped);
    return at::binary_cross_entropy_with_logits(logits_p, likes, {}, {}, at::Reduction::None);
}

at::Tensor odds(const at::Tensor& mean_log_p) {
    return at::logit(at::exp(mean_log_p));
}

at::Tensor term_of(PairLoss loss, const Scores& s, double beta, double smoothing) {
    const at::Tensor logits_p = beta * s.delta();
    const at::Tensor win_p = at::sigmoid(logits_p);
    switch (loss) {
        case PairLoss::Sigmoid:
            return at::softplus(-logits_p);
        case PairLoss::Hinge:
            return at::clamp_min(1 - logits_p, 0);
        case PairLoss::Ipo:
            return at::pow(s.mean_delta() - 1 / (2 * beta), 2);
        case PairLoss::Robust:
            return ((1 - smoothing) * at::softplus(-logits_p) - smoothing * at::softplus(logits_p)) /
                   (1 - 2 * smoothing);
        case PairLoss::SigmoidNorm:
            return at::softplus(-beta * s.mean_delta());
        case PairLoss::ExoPair:
            return win_p * at::log(win_p / (1 - smoothing)) + (1 - win_p) * at::log((1 - win_p) / smoothing);
        case PairLoss::NcaPair:
            return at::softplus(-beta * s.chosen_p) +
                   0.5 * (at::softplus(beta * s.chosen_p) + at::softplus(beta * s.rejected_p));
        case PairLoss::BcoPair:
            return at::softplus(-beta * s.chosen_p) + at::softplus(beta * s.rejected_p);
        case PairLoss::SppoHard:
            return at::pow(s.chosen_p - 1 / (2 * beta), 2) + at::pow(s.rejected_p + 1 / (2 * beta), 2);
        case PairLoss::ApoZero:
            return at::sigmoid(-beta * s.chosen_p) + at::sigmoid(beta * s.rejected_p);
        case PairLoss::ApoDown:
            return at::sigmoid(beta * s.chosen_p) + 1 - win_p;
        case PairLoss::Sft:
            break;
    }
    return at::zeros_like(logits_p);
}

at::Tensor pairs_loss(const Preference& preference, const PlainFacts& facts, const at::Tensor& sums_d2) {
    const Scores s = scores_of(facts, sums_d2.select(1, 0));
    const at::Tensor nll = -every_second(sums_d2.sum(1), 0).sum() /
                           every_second(facts.labels_d + facts.prompt_labels_d, 0).sum();
    if (preference.method == PreferenceMethod::Orpo)
        return nll + preference.beta * at::softplus(odds(s.rejected_mean_p) - odds(s.chosen_mean_p)).mean();
    if (preference.method == PreferenceMethod::Simpo)
        return preference.cpo_alpha * nll +
               cross_entropy_of_answers(preference.beta * s.mean_delta() - preference.simpo_gamma,
                                        preference.label_smoothing)
                   .mean();
    if (preference.scores())
        return (at::softplus(-s.delta()) + preference.center_rewards * at::square(s.chosen_p + s.rejected_p))
            .mean();
    at::Tensor loss = at::zeros_like(nll);
    for (const PairTerm& term : preference.terms) {
        const bool is_nll = term.loss == PairLoss::Sft;
        loss = loss +
               term.weight *
                   (is_nll ? nll : term_of(term.loss, s, preference.beta, preference.label_smoothing).mean());
    }
    return loss;
}

at::Tensor kto_loss(const Preference& preference, const PlainFacts& facts, const at::Tensor& sums_d2) {
    const int64_t rows = facts.reference_d.size(0);
    const at::Tensor ratios_d = sums_d2.select(1, 0).narrow(0, 0, rows) - facts.reference_d;
    const at::Tensor mismatched_d =
        sums_d2.select(1, 0).narrow(0, rows, rows).detach() - facts.mismatched_reference_d;
    const at::Tensor kl = mismatched_d.mean().clamp_min(0);
    const at::Tensor better_d = preference.beta * (ratios_d - kl) * (2 * facts.desirable_d - 1);
    const at::Tensor weights_d = preference.desirable_weight * facts.desirable_d +
                                 preference.undesirable_weight * (1 - facts.desirable_d);
    return (weights_d * at::sigmoid(-better_d)).mean();
}

}  // namespace

at::Tensor plain_preference_loss(const Preference& preference, const PlainFacts& facts,
                                 const at::Tensor& sums_d2) {
    return preference.has_pairs() ? pairs_loss(preference, facts, sums_d2)
                                  : kto_loss(preference, facts, sums_d2);
}

}  // namespace ringmaster
