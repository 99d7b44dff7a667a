/// Maps what the rows of `rl: grpo` hold besides tokens and labels: each document's advantage, and the
/// log-probability that the policy gave each label when it wrote it.
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
    /// tokens.safetensors. Throws Error(Refused) if they are missing or do not fit.
    explicit Rollouts(const std::filesystem::path& tokens);

    double advantage(int64_t place) const;  ///< of the document that holds the token at `place`
    /// Returns the old log-probability of the token at `place`, if the rows give it.
    std::optional<double> old_log_p(int64_t place) const;

  private:
    SafetensorsFile file_;
    std::span<const int64_t> documents_;
    std::span<const double> advantages_;
    std::span<const double> old_log_p_;
};

}  // namespace ringmaster
