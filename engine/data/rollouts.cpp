#include "engine/data/rollouts.h"

#include <algorithm>
#include <cmath>

#include "engine/error.h"

namespace ringmaster {

Rollouts::Rollouts(const std::filesystem::path& tokens)
    : file_(tokens),
      documents_(file_.elements<int64_t>("document_offsets", "I64")),
      advantages_(file_.elements<double>("advantages", "F64")),
      old_log_p_(file_.elements<double>("old_log_probabilities", "F64")) {
    constexpr char kSampled[] = "sampled_log_probabilities";
    if (file_.tensors().contains(kSampled)) sampled_log_p_ = file_.elements<double>(kSampled, "F64");
    const auto finite = [](double value) { return std::isfinite(value); };
    const bool good = advantages_.size() + 1 == documents_.size() &&
                      static_cast<int64_t>(old_log_p_.size()) == documents_.back() &&
                      (sampled_log_p_.empty() || sampled_log_p_.size() == old_log_p_.size()) &&
                      std::is_sorted(documents_.begin(), documents_.end()) &&
                      std::all_of(advantages_.begin(), advantages_.end(), finite);
    if (!good)
        throw Error(Failure::Refused, Code("FILE-DAMAGED"),
                    "advantages and old_log_probabilities do not fit the documents", tokens.string());
}

double Rollouts::advantage(int64_t place) const {
    const auto after = std::upper_bound(documents_.begin(), documents_.end(), place);
    return advantages_[static_cast<size_t>(after - documents_.begin()) - 1];
}

std::optional<double> Rollouts::old_log_p(int64_t place) const {
    const double value = old_log_p_[static_cast<size_t>(place)];
    return std::isnan(value) ? std::nullopt : std::optional(value);
}

}  // namespace ringmaster
