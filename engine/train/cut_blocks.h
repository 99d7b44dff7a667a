/// Blocks of block-wise states that lie on several ranks, because the slices that states are shared by cut
/// them. Their scale is the largest magnitude of all their elements: agreed on in one small all-reduce a step,
/// so that codes do not depend on the mesh.
#pragma once

#include <map>
#include <vector>

#include "engine/model/parameters.h"

namespace ringmaster {

class CutBlocks {
  public:
    /// `blocks`: of each parameter, elements in a block; 0 where it has none. The same on all ranks.
    CutBlocks(Parameters& parameters, const std::vector<int64_t>& blocks, int64_t states);

    /// This rank's stretches of a parameter's own elements.
    struct Stretch {
        int64_t begin = 0, count = 0;
        int64_t cut = -1;  ///< a part of this cut block; -1: whole blocks
    };
    std::vector<Stretch> stretches(size_t parameter) const;

    bool none() const { return cuts_.empty(); }
    /// Zeros [cuts, states] for what each rank knows of the largest magnitudes, and all ranks' maximum.
    at::Tensor begin() const;
    void agree(at::Tensor& largest) const;

  private:
    int64_t cut_of(size_t parameter, int64_t block) const;

    Parameters& parameters_;
    std::vector<int64_t> blocks_;
    int64_t states_;
    std::map<std::pair<size_t, int64_t>, int64_t> cuts_;  ///< parameter and its block: a number
};

}  // namespace ringmaster
