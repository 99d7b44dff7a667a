#include "engine/train/policy_rules.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ringmaster {

namespace {

/// Holds a value and its derivative with respect to the logarithm of the ratio or, for a divergence, to log
/// p.
struct RatioTerm {
    double value = 0, slope = 0;
};

/// Returns whether the clip removes the ratio's gradient: the ratio is beyond the bound towards which its
/// advantage moves it.
bool is_clipped(const PolicyRule& rule, double log_ratio, double advantage) {
    const double ratio = std::exp(log_ratio);
    return (ratio < 1 - rule.epsilon_low && advantage < 0) ||
           (ratio > 1 + rule.epsilon_high && advantage > 0);
}

/// Returns −min(r·A, clip(r)·A) for r = exp(log_ratio). Beyond the clip, the clipped product is constant.
RatioTerm clipped_loss(const PolicyRule& rule, double log_ratio, double advantage) {
    const double ratio = std::exp(log_ratio);
    const double free = ratio * advantage;
    const double clipped = std::clamp(ratio, 1 - rule.epsilon_low, 1 + rule.epsilon_high) * advantage;
    return free <= clipped ? RatioTerm{-free, -free} : RatioTerm{-clipped, 0};
}

/// Returns the estimate exp(a) − a − 1 of a label's divergence, for a = reference − log p.
RatioTerm divergence_of(const RolloutSums& document, size_t label) {
    const double away = document.reference[label] - document.log_p[label];
    return {std::expm1(away) - away, -std::expm1(away)};
}

double mean_log_ratio(const RolloutSums& document) {
    double sum = 0;
    for (size_t i = 0; i < document.log_p.size(); ++i) sum += document.log_p[i] - document.old_log_p[i];
    return sum / static_cast<double>(std::max<size_t>(1, document.log_p.size()));
}

/// Returns the mean of a document's factors, or 1 if there are none.
double mean_of(const std::vector<double>& factors) {
    if (factors.empty()) return 1;
    return std::accumulate(factors.begin(), factors.end(), 0.0) / static_cast<double>(factors.size());
}

/// Returns the factor of a document's labels in the loss.
double weight_of(const PolicyRule& rule, const RolloutSums& document, double documents, double labels) {
    if (rule.loss == PolicyLoss::Dapo) return 1 / std::max(1.0, labels);
    if (rule.loss == PolicyLoss::DrGrpo) return 1 / (documents * static_cast<double>(rule.answer_tokens));
    return 1 / (documents * std::max(1.0, static_cast<double>(document.log_p.size())));
}

/// Adds β · ratio · divergence for each label of a document (DeepSeek-V3.2, arXiv 2512.02556). The ratio
/// depends on log p too: a label's ratio on the label's log p, a sequence's ratio on those of all labels.
void add_divergence(const PolicyRule& rule, const RolloutSums& document, double weight, double labels,
                    PreferenceLoss& result) {
    const size_t count = document.log_p.size(), first = result.slopes.size() - count;
    const double of_sequence = mean_log_ratio(document);
    double mean = 0;
    for (size_t i = 0; i < count; ++i) mean += divergence_of(document, i).value / static_cast<double>(count);
    for (size_t i = 0; i < count; ++i) {
        const RatioTerm divergence = divergence_of(document, i);
        const double own = document.log_p[i] - document.old_log_p[i];
        const double ratio = std::exp(rule.by_sequence ? of_sequence : own);
        const double by_ratio = rule.by_sequence ? mean : divergence.value;
        result.loss += weight * rule.beta * ratio * divergence.value;
        result.slopes[first + i].completion += weight * rule.beta * ratio * (divergence.slope + by_ratio);
        *result.figures.kl += ratio * divergence.value / labels;
    }
}

}  // namespace

std::vector<double> importance_factors(const RolloutServer& rule, const std::vector<double>& log_p,
                                       const std::vector<double>& sampled) {
    using enum ImportanceRatio;
    const bool of_sequence = rule.ratio == SequenceTruncate || rule.ratio == SequenceMask;
    const bool masks = rule.ratio == TokenMask || rule.ratio == SequenceMask;
    double sum = 0;
    for (size_t i = 0; i < log_p.size(); ++i) sum += log_p[i] - sampled[i];
    std::vector<double> factors;
    for (size_t i = 0; i < log_p.size(); ++i) {
        const double ratio = std::exp(of_sequence ? sum : log_p[i] - sampled[i]);
        factors.push_back(ratio <= rule.cap ? ratio : masks ? 0 : rule.cap);
    }
    return factors;
}

PreferenceLoss policy_loss(const PolicyRule& rule, const std::vector<RolloutSums>& documents) {
    PreferenceLoss result;
    if (rule.beta != 0) result.figures.kl = 0;
    double labels = 0, clipped = 0;
    for (const RolloutSums& document : documents) labels += static_cast<double>(document.log_p.size());
    for (const RolloutSums& document : documents) {
        const double weight = weight_of(rule, document, static_cast<double>(documents.size()), labels);
        const double of_sequence = mean_log_ratio(document), mean_factor = mean_of(document.factors);
        for (size_t i = 0; i < document.log_p.size(); ++i) {
            const double own = document.log_p[i] - document.old_log_p[i];
            const double log_ratio = rule.by_sequence ? of_sequence : own;
            const RatioTerm part = clipped_loss(rule, log_ratio, document.advantage);
            if (!rule.by_sequence) clipped += is_clipped(rule, log_ratio, document.advantage);
            const double factor = document.factors.empty() ? 1 : document.factors[i];
            result.loss += weight * factor * part.value;
            // All labels of a sequence have the same effect on its ratio, so their losses share one slope.
            result.slopes.push_back({weight * (rule.by_sequence ? mean_factor : factor) * part.slope, 0});
        }
        if (rule.by_sequence) clipped += is_clipped(rule, of_sequence, document.advantage);
        if (rule.beta != 0) add_divergence(rule, document, weight, labels, result);
        if (!document.factors.empty())
            result.figures.sampler_gap =
                result.figures.sampler_gap.value_or(0) + document.sampler_gap / labels;
    }
    const double ratios = rule.by_sequence ? static_cast<double>(documents.size()) : labels;
    result.figures.clip_share = clipped / std::max(1.0, ratios);
    return result;
}

}  // namespace ringmaster
