/// Maps what the rows of `rl: grpo` hold besides tokens and labels: each document's advantage, and the
/// log-probability that the policy gave each label when it sampled the label.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

#include "engine/files/safetensors.h"

namespace ringmaster {

class Rollouts {
  public:
    /// Maps `advantages` F64 [documents] and `old_log_probabilities` F64 [tokens] (NaN: not given) of a
    /// tokens.safetensors, and `sampled_log_probabilities` F64 [tokens] if it is there. Throws Error(Refused)
    /// if they are missing or do not fit.
    explicit Rollouts(const std::filesystem::path& tokens);

    double advantage(int64_t place) const;  ///< advantage of the document with the token at `place`
    /// Returns the old log-probability of the token at `place`, if the rows give it.
    std::optional<double> old_log_p(int64_t place) const;
    /// Returns the log-probability that another program's sampler gave the token at `place`. The file must
    /// hold these numbers.
    double sampled_log_p(int64_t place) const { return sampled_log_p_[static_cast<size_t>(place)]; }

  private:
    SafetensorsFile file_;
    std::span<const int64_t> documents_;
    std::span<const double> advantages_;
    std::span<const double> old_log_p_;
    std::span<const double> sampled_log_p_;  ///< empty if the file has none
};

}  // namespace ringmaster
