/// Updates a model's flat parameters from their gradients; if sharded, only this rank's slices. The
/// configuration's `optimizer` (engine/config/optimizers.h) selects the rule and the form of its states.
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

    /// Updates the parameters from their gradients, and refreshes the weights of computation on all ranks.
    virtual void step(double learning_rate) = 0;

    /// Saves the complete states of each parameter, gathered from all ranks as save_weights does. Numbers or
    /// codes are saved as <state>.<name>, and the scales of the codes' blocks as <state>_absmax.<name>.
    /// Returns the file if this rank `writes`.
    virtual std::optional<WrittenFile> save(const std::filesystem::path& file, bool writes = true) const = 0;
    /// Loads states; the bias correction uses `completed_steps`.
    virtual void load(const std::filesystem::path& file, int64_t completed_steps) = 0;

    /// Switches between the weights for evaluation and export and those for training. They differ only for an
    /// optimizer that averages.
    virtual void use_averaged_weights(bool) {}

    // Proofs use the following members to compare an update with its formula in float64.
    /// Names an element that this rank updates.
    struct Place {
        size_t parameter = 0;
        int unit = 0;
        int64_t in_slice = 0;  ///< index in the unit's slice
        int64_t in_own = 0;    ///< index among this rank's elements of the parameter
    };
    /// Returns one tensor per state, float64 on the CPU, with the values at each place.
    virtual std::vector<at::Tensor> states_at(const std::vector<Place>& places) const = 0;
    /// Returns, in the same form, how far each stored state may lie from the number that was stored. Empty if
    /// states keep the numbers themselves.
    virtual std::vector<at::Tensor> roundings_at(const std::vector<Place>&) const { return {}; }
    struct Element {
        double weight = 0, gradient = 0;
        std::vector<double> states;
        size_t parameter = 0;
        int64_t at = 0;  ///< index among the parameter's elements
    };
    /// Returns the element's states after an update, before they are stored; empty if they have no formula.
    virtual std::vector<double> states_after(const Element&) const { return {}; }
    /// Returns how much the update of `step` (the first is 1) moves the weight; called after that update.
    /// nullopt if one element's numbers do not determine it.
    virtual std::optional<double> change_of(const Element& element, int64_t step,
                                            double learning_rate) const = 0;
};

/// Makes the optimizer that the configuration selects. `total_steps` is the run's number of steps, which an
/// optimizer needs if it does the warmup itself.
std::unique_ptr<Optimizer> make_optimizer(Parameters& parameters, const Config& config,
                                          int64_t total_steps = 1);

/// Returns AdamW's change of an element from its previous moments. Source: Loshchilov & Hutter 2019,
/// "Decoupled Weight Decay Regularization", algorithm 2.
double adamw_change(const Config& config, const Optimizer::Element& element, const ParameterGroup& group,
                    int64_t step, double learning_rate);

/// Returns AdamW's moments of an element after an update.
std::vector<double> adamw_moments(const Config& config, const Optimizer::Element& element);

/// Returns the L2 norm over all gradients; the same on all ranks.
double gradient_norm(Parameters& parameters);

}  // namespace ringmaster
