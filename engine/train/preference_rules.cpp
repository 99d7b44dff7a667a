#include "engine/train/preference_rules.h"

#include <cmath>

#include "engine/train/dual.h"

namespace ringmaster {

namespace {

/// Holds a pair's scores: the numbers that the loss compares for its chosen and its rejected completion.
struct Pair {
    Dual chosen, rejected;
    double chosen_labels = 1, rejected_labels = 1;

    Dual difference() const { return chosen - rejected; }
    /// Returns the difference of the means over labels.
    Dual mean_difference() const { return (1 / chosen_labels) * chosen - (1 / rejected_labels) * rejected; }
};

Pair pair_of(const DocumentSums& chosen, const DocumentSums& rejected) {
    return {{chosen.completion - chosen.reference, 1, 0},
            {rejected.completion - rejected.reference, 0, 1},
            static_cast<double>(chosen.completion_labels),
            static_cast<double>(rejected.completion_labels)};
}

Dual square(const Dual& x) {
    return x * x;
}

Dual exo_pair(const Dual& logit, double smoothing) {
    const Dual log_chosen = log_sigmoid(logit), log_rejected = log_sigmoid(-1 * logit);
    return sigmoid(logit) * (log_chosen + -std::log1p(-smoothing)) +
           sigmoid(-1 * logit) * (log_rejected + -std::log(smoothing));
}

/// Returns one term of a DPO loss. Source: TRL 1.16, trainer/dpo_trainer.py, _compute_loss.
Dual dpo_term(PairLoss loss, const Pair& pair, double beta, double smoothing) {
    const Dual logit = beta * pair.difference();
    const Dual chosen = beta * pair.chosen, rejected = beta * pair.rejected;
    switch (loss) {
        case PairLoss::Sigmoid:
            return -1 * log_sigmoid(logit);
        case PairLoss::Hinge:
            return relu(-1 * logit + 1);
        case PairLoss::Ipo:
            return square(pair.mean_difference() + -1 / (2 * beta));
        case PairLoss::Robust:
            return (1 / (1 - 2 * smoothing)) *
                   (smoothing * log_sigmoid(-1 * logit) - (1 - smoothing) * log_sigmoid(logit));
        case PairLoss::SigmoidNorm:
            return -1 * log_sigmoid(beta * pair.mean_difference());
        case PairLoss::ExoPair:
            return exo_pair(logit, smoothing);
        case PairLoss::NcaPair:
            return -1 * log_sigmoid(chosen) - 0.5 * log_sigmoid(-1 * chosen) -
                   0.5 * log_sigmoid(-1 * rejected);
        case PairLoss::BcoPair:
            return -1 * log_sigmoid(chosen) - log_sigmoid(-1 * rejected);
        case PairLoss::SppoHard:
            return square(pair.chosen + -0.5 / beta) + square(pair.rejected + 0.5 / beta);
        case PairLoss::ApoZero:
            return sigmoid(rejected) - sigmoid(chosen) + 1;
        case PairLoss::ApoDown:
            return sigmoid(chosen) - sigmoid(logit) + 1;
        case PairLoss::Sft:
            break;  // this loss does not compare the two scores
    }
    return {};
}

/// Returns a pair's part of the loss, without the term of the chosen labels' mean loss. A reward model's loss
/// follows TRL 1.16, trainer/reward_trainer.py, compute_loss.
Dual pair_loss(const Preference& preference, const Pair& pair) {
    const double beta = preference.beta, smoothing = preference.label_smoothing;
    const Dual chosen = (1 / pair.chosen_labels) * pair.chosen,
               rejected = (1 / pair.rejected_labels) * pair.rejected;
    if (preference.method == PreferenceMethod::Orpo)
        return -beta * log_sigmoid(chosen - rejected - (log1mexp(chosen) - log1mexp(rejected)));
    if (preference.method == PreferenceMethod::Simpo) {
        const Dual logit = beta * pair.mean_difference() + -preference.simpo_gamma;
        return -(1 - smoothing) * log_sigmoid(logit) - smoothing * log_sigmoid(-1 * logit);
    }
    if (preference.scores())
        return -1 * log_sigmoid(pair.difference()) +
               preference.center_rewards * square(pair.chosen + pair.rejected);
    Dual loss;
    for (const PairTerm& term : preference.terms)
        loss = loss + term.weight * dpo_term(term.loss, pair, beta, smoothing);
    return loss;
}

/// Returns the weight of the chosen labels' mean loss.
double nll_weight(const Preference& preference) {
    if (preference.method == PreferenceMethod::Orpo) return 1;
    if (preference.method == PreferenceMethod::Simpo) return preference.cpo_alpha;
    double weight = 0;
    for (const PairTerm& term : preference.terms) weight += term.loss == PairLoss::Sft ? term.weight : 0;
    return weight;
}

/// Adds the mean loss of the chosen documents' labels.
void add_nll(double weight, const std::vector<DocumentSums>& documents, PreferenceLoss& result) {
    double sum = 0, labels = 0;
    for (size_t i = 0; i < documents.size(); i += 2) {
        sum -= documents[i].completion + documents[i].prompt;
        labels += static_cast<double>(documents[i].completion_labels + documents[i].prompt_labels);
    }
    result.figures.nll = sum / labels;
    result.loss += weight * sum / labels;
    for (size_t i = 0; i < documents.size(); i += 2) {
        result.slopes[i].completion -= weight / labels;
        if (documents[i].prompt_labels > 0) result.slopes[i].prompt -= weight / labels;
    }
}

PreferenceLoss pairs_loss(const Preference& preference, const std::vector<DocumentSums>& documents) {
    PreferenceLoss result;
    result.slopes.resize(documents.size());
    const double pairs = static_cast<double>(documents.size() / 2);
    double chosen = 0, rejected = 0, accuracy = 0;
    for (size_t i = 0; i + 1 < documents.size(); i += 2) {
        const Pair pair = pair_of(documents[i], documents[i + 1]);
        const Dual loss = (1 / pairs) * pair_loss(preference, pair);
        result.loss += loss.value;
        result.slopes[i].completion += loss.by_chosen;
        result.slopes[i + 1].completion += loss.by_rejected;
        const bool of_means = !preference.has_reference();
        const double of_chosen = preference.beta * pair.chosen.value / (of_means ? pair.chosen_labels : 1);
        const double of_rejected =
            preference.beta * pair.rejected.value / (of_means ? pair.rejected_labels : 1);
        chosen += of_chosen / pairs;
        rejected += of_rejected / pairs;
        accuracy += (of_chosen > of_rejected ? 1 : 0) / pairs;
    }
    result.figures = {chosen, rejected, chosen - rejected, accuracy, {}, {}};
    if (const double weight = nll_weight(preference); weight != 0) add_nll(weight, documents, result);
    return result;
}

/// Computes KTO's loss. Source: TRL 1.16, trainer/kto_trainer.py, _compute_loss; Ethayarajh et al. 2024,
/// equation 7.
PreferenceLoss kto_loss(const Preference& preference, const std::vector<DocumentSums>& documents, double kl) {
    PreferenceLoss result;
    const double rows = static_cast<double>(documents.size());
    double rewards[2] = {0, 0}, counts[2] = {0, 0};
    for (const DocumentSums& document : documents) {
        const Dual ratio{document.completion - document.reference, 1, 0};
        const double sign = document.desirable ? 1 : -1;
        const double weight =
            document.desirable ? preference.desirable_weight : preference.undesirable_weight;
        const Dual loss = (weight / rows) * (-1 * sigmoid(sign * preference.beta * (ratio + -kl)) + 1);
        result.loss += loss.value;
        result.slopes.push_back({loss.by_chosen, 0});
        rewards[document.desirable ? 1 : 0] += preference.beta * ratio.value;
        counts[document.desirable ? 1 : 0] += 1;
    }
    result.figures.kl = kl;
    if (counts[1] > 0) result.figures.rewards_chosen = rewards[1] / counts[1];
    if (counts[0] > 0) result.figures.rewards_rejected = rewards[0] / counts[0];
    if (counts[0] > 0 && counts[1] > 0)
        result.figures.margin = *result.figures.rewards_chosen - *result.figures.rewards_rejected;
    return result;
}

}  // namespace

PreferenceLoss preference_loss(const Preference& preference, const std::vector<DocumentSums>& documents,
                               double kl) {
    return preference.has_pairs() ? pairs_loss(preference, documents)
                                  : kto_loss(preference, documents, std::max(0.0, kl));
}

}  // namespace ringmaster
