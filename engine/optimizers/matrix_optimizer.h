/// Implements optimizers whose update of an element depends on its whole matrix: Adafactor, CAME and Muon. If
/// states are sharded, every rank gathers a unit's gradients, weights and momentum, computes the whole
/// matrices and keeps its slices. Every mesh therefore runs the same operations on the same numbers.
#pragma once

#include "engine/optimizers/optimizer.h"

namespace ringmaster {

std::unique_ptr<Optimizer> make_matrix_optimizer(Parameters& parameters, const Config& config);

/// Holds the states of one parameter.
struct MatrixStates {
    at::Tensor momentum;  ///< momentum, gathered for the whole parameter during its update; undefined if
                          ///< there is none
    at::Tensor second;    ///< second moments of this rank's elements only
    std::vector<at::Tensor> vectors;  ///< one number per row, column or element; complete on every rank
    double divisor = 1;               ///< divisor of the last update, for proofs
};

struct MatrixStep {
    int64_t step = 1;
    double rate = 0, decay = 0;
};

/// An update rule for whole matrices and vectors.
class MatrixRule {
  public:
    virtual ~MatrixRule() = default;
    /// Returns new weights in the weights' dtype; changes momentum and vectors in place.
    virtual at::Tensor moved(const MatrixStep& at, const at::Tensor& weights, const at::Tensor& gradients,
                             MatrixStates& states) const = 0;
    /// Returns the change of an element at (row, column), computed from the states after the update.
    virtual std::optional<double> change(const MatrixStep& at, const Optimizer::Element& element,
                                         int64_t columns, const std::vector<at::Tensor>& vectors,
                                         double momentum, double divisor) const = 0;
};

std::unique_ptr<MatrixRule> make_adafactor();
std::unique_ptr<MatrixRule> make_came(const Config& config);
std::unique_ptr<MatrixRule> make_muon(const Config& config);

}  // namespace ringmaster
