/// Describes training on rollouts, `rl: grpo`: answers with advantages and, usually, the log-probabilities
/// that the policy gave them when it wrote them. The words and formulas are those of
/// TRL 1.16 (trainer/grpo_trainer.py).
#pragma once

#include <cstdint>

namespace ringmaster {

/// Selects how the losses of labels are averaged: over each answer and then over answers, over all labels, or
/// over answers of a fixed length.
enum class PolicyLoss { Grpo, Dapo, DrGrpo };

const char* to_string(PolicyLoss loss);  ///< "grpo", "dapo", "dr_grpo"

struct PolicyRule {
    PolicyLoss loss = PolicyLoss::Dapo;
    bool by_sequence = false;   ///< one ratio for each answer (GSPO), not one for each label
    double epsilon_low = 0.2;   ///< the ratio is clipped to 1 − epsilon_low …
    double epsilon_high = 0.2;  ///< … 1 + epsilon_high
    double beta = 0;            ///< weight of the divergence from the reference; 0: no reference
    int64_t answer_tokens = 0;  ///< most tokens of a sampled answer, and DrGrpo's fixed length
    double temperature = 1;     ///< the logits are divided by it
};

struct Config;

/// Returns whether the loss is computed from the log-probabilities of all of a step's documents, before the
/// backward.
bool weighs_documents(const Config& config);

/// Returns whether the loss compares with the log-probabilities that the run started with.
bool has_reference(const Config& config);

class KeyReader;

/// Reads `trl` for rl: grpo and gdpo.
void read_policy(KeyReader& keys, Config& config);

}  // namespace ringmaster
