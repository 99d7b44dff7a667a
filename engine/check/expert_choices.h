/// Makes a mesh use the experts that preflight's plain model chose, because rounding decides between two
/// experts of almost the same probability. A choice that rounding cannot explain is a fault.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/comm/groups.h"
#include "engine/model/expert_ops.h"

namespace ringmaster {

class ExpertChoices {
  public:
    /// Takes pairs of a token's index in the token file and its row in chosen_ltk, int64 [layers, tokens, K].
    /// A token may occur several times.
    ExpertChoices(std::vector<std::pair<int64_t, int64_t>> place_and_row, at::Tensor chosen_ltk);

    /// Returns the choice for a layer's tokens, which is own_nk for padding and unknown tokens. For the
    /// choice and for own_nk, records by how much an expert that is left out is more probable than a chosen
    /// one (excess_left_out).
    at::Tensor choose(int layer, const at::Tensor& places_n, const ExpertRanks& ranks,
                      const at::Tensor& own_nk);
    /// Throws ProgramFault on all ranks if, on any rank, an expert that was left out scored higher than a
    /// chosen one by more than the fraction `share`. Clears the record.
    void check(Groups& groups, double share);

  private:
    at::Tensor places_t_, chosen_ltk_;
    at::Tensor worst_;  ///< largest excess_left_out
};

}  // namespace ringmaster
