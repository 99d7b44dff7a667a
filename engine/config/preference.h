/// Describes training on preferences: `rl` and its keys, and `reward_model`. The words and formulas are those
/// of TRL 1.16 (trainer/dpo_trainer.py, trainer/kto_trainer.py, trainer/reward_trainer.py, experimental/orpo,
/// experimental/cpo).
#pragma once

#include <vector>

namespace ringmaster {

enum class PreferenceMethod { None, Dpo, Orpo, Simpo, Kto, Reward };

/// Lists the terms of a DPO loss, with TRL's words for `loss_type`.
enum class PairLoss {
    Sigmoid,
    Hinge,
    Ipo,
    Robust,
    Sft,
    SigmoidNorm,
    ExoPair,
    NcaPair,
    BcoPair,
    SppoHard,
    ApoZero,
    ApoDown
};

struct PairTerm {
    PairLoss loss = PairLoss::Sigmoid;
    double weight = 1;

    bool operator==(const PairTerm&) const = default;
};

struct Preference {
    PreferenceMethod method = PreferenceMethod::None;
    double beta = 0.1;
    std::vector<PairTerm> terms = {{}};  ///< never empty; only DPO can have several terms, and sums them
    double label_smoothing = 0;          ///< used by DPO's `robust` and `exo_pair`, and by SimPO
    double simpo_gamma = 0.5;
    double cpo_alpha = 1;         ///< weight of the chosen completions' mean loss in SimPO
    double desirable_weight = 1;  ///< used by KTO, as is undesirable_weight
    double undesirable_weight = 1;
    double center_rewards = 0;  ///< used by a reward model: weight of (chosen + rejected)²

    bool on() const { return method != PreferenceMethod::None; }
    /// Returns true if a row holds a chosen and a rejected document, false if it holds one document.
    bool has_pairs() const { return on() && method != PreferenceMethod::Kto; }
    /// Returns true if the loss compares with the log-probabilities of the model that the run started from.
    bool has_reference() const { return method == PreferenceMethod::Dpo || method == PreferenceMethod::Kto; }
    /// Returns whether the model gives each document a score, in place of probabilities of tokens.
    bool scores() const { return method == PreferenceMethod::Reward; }
    /// Returns whether a chosen document's prompt is trained too.
    bool learns_prompt() const { return method == PreferenceMethod::Orpo; }
};

const char* to_string(PreferenceMethod method);  ///< "none", "dpo", "orpo", "simpo", "kto", "reward"
const char* to_string(PairLoss loss);            ///< "sigmoid", "hinge", …

}  // namespace ringmaster
