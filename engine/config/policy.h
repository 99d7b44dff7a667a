/// Describes training on rollouts, `rl: grpo`: answers with advantages and, usually, the log-probabilities
/// that the policy gave their tokens when it sampled them. The words and formulas are those of
/// TRL 1.16 (trainer/grpo_trainer.py).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ringmaster {

/// Selects how the losses of labels are averaged: over each answer and then over answers, over all labels, or
/// over answers of a fixed length.
enum class PolicyLoss { Grpo, Dapo, DrGrpo };

const char* to_string(PolicyLoss loss);  ///< "grpo", "dapo", "dr_grpo"

/// A folder into which another program puts files of rollouts while the run trains: `trl.rollout_folder`
/// (launcher/tokenize/ringmaster_rows/rollout_folder.py). TRL has no such key.
struct RolloutFolder {
    std::string path;        ///< absolute
    int64_t timeout = 3600;  ///< seconds to wait for one step's rows
};

struct PolicyRule {
    PolicyLoss loss = PolicyLoss::Dapo;
    bool by_sequence = false;   ///< one ratio for each answer (GSPO), not one for each label
    double epsilon_low = 0.2;   ///< ratios below 1 − epsilon_low are clipped
    double epsilon_high = 0.2;  ///< ratios above 1 + epsilon_high are clipped
    double beta = 0;  ///< weight of the divergence from the reference model; 0: there is no reference
    int64_t answer_tokens = 0;                 ///< maximum tokens of a sampled answer; DrGrpo's fixed length
    double temperature = 1;                    ///< divides the logits
    std::optional<RolloutFolder> folder = {};  ///< null: the rows exist before the run starts
};

struct Config;

/// Returns whether the loss is computed from the log-probabilities of all of a step's documents, before the
/// backward pass.
bool weighs_documents(const Config& config);

/// Returns true if each step's rows arrive while the run trains. Either the run samples them, or another
/// program puts them into a folder.
bool gets_rows_while_training(const Config& config);

/// Returns true if the loss compares with a reference: the log-probabilities of the model that the run
/// started from.
bool has_reference(const Config& config);

class KeyReader;

/// Reads `trl` for rl: grpo and gdpo.
void read_policy(KeyReader& keys, Config& config);

/// Reads `trl.rollout_folder` and its timeout, and rejects keys that would choose other rows. Call after
/// read_policy.
void read_rollout_folder(KeyReader& keys, Config& config);

/// Checks a run whose rows come from a folder; call after read_data and read_batch.
void settle_rollout_folder(KeyReader& keys, Config& config);

}  // namespace ringmaster
