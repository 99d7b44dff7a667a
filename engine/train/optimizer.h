/// Updates a model's flat parameters from their gradients; of sharded parameters, this rank's slices. Which
/// rule it is, and how its states are kept, is the configuration's `optimizer` (engine/config/optimizers.h).
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "engine/config/config.h"
#include "engine/model/parameters.h"
#include "engine/plan/parameter_groups.h"

namespace ringmaster {

class Optimizer {
  public:
    Optimizer() = default;
    Optimizer(const Optimizer&) = delete;
    Optimizer& operator=(const Optimizer&) = delete;
    virtual ~Optimizer() = default;

    /// One update from the parameters' gradients; brings the weights of computation up, on all ranks.
    virtual void step(double learning_rate) = 0;

    /// Per parameter and state, whole, whoever holds it (as save_weights): the numbers under <state>.<name>,
    /// or the codes, and the scales of their blocks under <state>_absmax.<name>. Returns the file if this
    /// rank `writes`.
    virtual std::optional<WrittenFile> save(const std::filesystem::path& file, bool writes = true) const = 0;
    /// `completed_steps` goes into the bias correction.
    virtual void load(const std::filesystem::path& file, int64_t completed_steps) = 0;

    /// Makes the weights those that are evaluated and exported, or those that are trained again. Only an
    /// optimizer that averages has two sets of them.
    virtual void use_averaged_weights(bool) {}

    // What proves an update beside the formula in float64.
    /// An element that this rank updates.
    struct Place {
        size_t parameter = 0;
        int unit = 0;
        int64_t in_slice = 0;  ///< of the unit
        int64_t in_own = 0;    ///< among the parameter's elements that are this rank's
    };
    /// One tensor for each state, float64 on the CPU, of each place.
    virtual std::vector<at::Tensor> states_at(const std::vector<Place>& places) const = 0;
    struct Element {
        double weight = 0, gradient = 0;
        std::vector<double> states;
        size_t parameter = 0;
        int64_t at = 0;  ///< among the parameter's elements
    };
    /// Returns the element's states after an update; empty if they are kept in codes, or no formula says it.
    virtual std::vector<double> states_after(const Element&) const { return {}; }
    /// Returns by how much the update of `step` (the first is 1) moves the weight, called after that update.
    /// nullopt: a number of one element cannot say it.
    virtual std::optional<double> change_of(const Element& element, int64_t step,
                                            double learning_rate) const = 0;
};

/// `total_steps` of the run, for an optimizer that warms up by itself.
std::unique_ptr<Optimizer> make_optimizer(Parameters& parameters, const Config& config,
                                          int64_t total_steps = 1);

/// Elements on their way at once where states lie in host memory; known to engine/plan/memory.cpp.
constexpr int64_t kStatesOnTheirWay = int64_t{16} << 20;

/// AdamW's change of an element from its moments before.
/// Source: Loshchilov & Hutter 2019, "Decoupled Weight Decay Regularization", algorithm 2.
double adamw_change(const Config& config, const Optimizer::Element& element, const ParameterGroup& group,
                    int64_t step, double learning_rate);

/// AdamW's moments of an element after an update.
std::vector<double> adamw_moments(const Config& config, const Optimizer::Element& element);

/// L2 norm over all gradients, in double over the parameters' own norms; the same on all ranks.
double gradient_norm(Parameters& parameters);

}  // namespace ringmaster
