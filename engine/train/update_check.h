/// Checks on sampled weights that an update follows the optimizer's formula, computed in float64. Samples of
/// a tensor are its first and last element in this rank's slice and a few between that change with the step.
/// The elements of a slice are also counted from the shapes alone, to find elements that are never updated.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "engine/comm/groups.h"
#include "engine/config/config.h"
#include "engine/optimizers/optimizer.h"

namespace ringmaster {

class UpdateCheck {
  public:
    /// Records weights, gradients and moments before the update of `step`, which counts from 1.
    UpdateCheck(Parameters& parameters, const Optimizer& optimizer, const Config& config, int64_t step);
    /// Checks the update, on all ranks together. Throws ProgramFault with the name of a wrong tensor.
    void after(Groups& groups, double gradient_norm, double learning_rate) const;

  private:
    struct Values {
        at::Tensor weights, gradients;  ///< float64 on the CPU, one value per sample
        std::vector<at::Tensor> states;
    };

    struct States {
        std::vector<at::Tensor> values, roundings;  ///< results of states_at and roundings_at
    };

    std::string wrong_state(const Optimizer::Element& element, const States& now, size_t sample) const;
    void choose(size_t parameter, int64_t begin, int64_t end, uint64_t seed);

    Parameters& parameters_;
    const Optimizer& optimizer_;
    const Config& config_;
    int64_t step_;
    std::vector<Optimizer::Place> samples_;
    Values before_;
};

}  // namespace ringmaster
