/// Handles blocks of block-wise states that lie on several ranks because a border between two ranks' slices
/// cuts them. A block's scale is the largest magnitude of all its elements. One small all-reduce per step
/// finds it, so that codes do not depend on the mesh.
#pragma once

#include <map>
#include <vector>

#include "engine/model/parameters.h"

namespace ringmaster {

class CutBlocks {
  public:
    /// `blocks` holds each parameter's elements per block, 0 if its states have no blocks; the same on all
    /// ranks.
    CutBlocks(Parameters& parameters, const std::vector<int64_t>& blocks, int64_t states);

    /// Describes a contiguous stretch of a parameter's elements on this rank.
    struct Stretch {
        int64_t begin = 0, count = 0;
        int64_t cut = -1;  ///< index of the cut block that holds this stretch; -1 if the stretch consists of
                           ///< whole blocks
    };
    std::vector<Stretch> stretches(size_t parameter) const;

    bool none() const { return cuts_.empty(); }
    /// begin() returns zeros [cuts, states], in which the caller stores this rank's magnitudes; agree()
    /// replaces them by their maxima over the ranks.
    at::Tensor begin() const;
    void agree(at::Tensor& largest) const;

  private:
    int64_t cut_of(size_t parameter, int64_t block) const;

    Parameters& parameters_;
    std::vector<int64_t> blocks_;
    int64_t states_;
    std::map<std::pair<size_t, int64_t>, int64_t> cuts_;  ///< (parameter, block) -> index of the cut
};

}  // namespace ringmaster
