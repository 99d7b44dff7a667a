/// Computes the losses of training on rollouts from log-probabilities, one number per label, and their
/// derivatives: the weights of the labels in the backward pass. The arithmetic is in double and gives the
/// same results on every rank. The formulas are those of TRL 1.16 (trainer/grpo_trainer.py, _compute_loss);
/// means are over the step's global batch. Sources: Shao et al. 2024 (GRPO), Yu et al. 2025 (DAPO), Liu et
/// al. 2025 (Dr. GRPO), Zheng et al. 2025 (GSPO).
#pragma once

#include <vector>

#include "engine/config/policy.h"
#include "engine/config/rollout_server.h"
#include "engine/train/preference_rules.h"

namespace ringmaster {

/// Holds everything in one document that the loss depends on, by label.
struct RolloutSums {
    double advantage = 0;
    std::vector<double> log_p;
    std::vector<double> old_log_p;  ///< has one number per label
    std::vector<double> reference;  ///< has one number per label if the rule has a reference; else empty
    /// Factors of the labels' losses, but not of their divergences; they have no derivative. If empty, all
    /// factors are 1.
    std::vector<double> factors = {};
    double sampler_gap = 0;  ///< Σ |log p − the sampler's log p|, if there are factors
};

/// Returns the factors exp(log p − sampled), where `sampled` has the log-probabilities that another sampler
/// gave the labels of one document: TRL's correction for vLLM (_generate_and_score_completions).
std::vector<double> importance_factors(const RolloutServer& rule, const std::vector<double>& log_p,
                                       const std::vector<double>& sampled);

/// Returns the step's loss and the slope of each label, document after document. The loss's figures are the
/// share of clipped labels (TRL's clip_ratio/region_mean) and, if the rule has a reference, the divergence
/// from the reference.
PreferenceLoss policy_loss(const PolicyRule& rule, const std::vector<RolloutSums>& documents);

}  // namespace ringmaster
