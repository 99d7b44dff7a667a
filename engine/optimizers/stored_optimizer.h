/// Implements optimizers whose states belong to single elements, each kept in its format: numbers, or codes
/// in blocks. Rules derive from it (AdamW, Lion, …) and define how states and weights change.
#pragma once

#include "engine/optimizers/cut_blocks.h"
#include "engine/optimizers/optimizer.h"
#include "engine/optimizers/stored_state.h"
#include "engine/piece_sizes.h"

namespace ringmaster {

class StoredOptimizer : public Optimizer {
  public:
    StoredOptimizer(Parameters& parameters, const Config& config, const OptimizerKind& kind);

    void step(double learning_rate) override;
    std::optional<WrittenFile> save(const std::filesystem::path& file, bool writes = true) const override;
    void load(const std::filesystem::path& file, int64_t completed_steps) override;
    std::vector<at::Tensor> states_at(const std::vector<Place>& places) const override;
    std::vector<at::Tensor> roundings_at(const std::vector<Place>& places) const override;

    /// Returns a state of this rank's elements of a parameter, for proofs. `which` is the state's index in
    /// states_of.
    const StoredState& state(size_t parameter, size_t which) const { return owned_[parameter].states[which]; }

  protected:
    struct Owned {
        at::Tensor master, gradients;  ///< hold this rank's elements
        std::vector<StoredState> states;
        ParameterGroup group;
    };

    /// Changes the weights of this rank's elements [begin, begin + count), and returns their new states.
    virtual std::vector<at::Tensor> new_states(Owned& owned, int64_t begin, int64_t count,
                                               double learning_rate) = 0;
    /// Updates whole blocks with kernels; returns false if no kernel serves this parameter.
    virtual bool update_kernels(Owned&, const CutBlocks::Stretch&, double) { return false; }
    /// Returns numbers that belong to no parameter but are saved with the states; empty for most rules.
    virtual std::vector<double> run_numbers() const { return {}; }
    virtual void take_run_numbers(const std::vector<double>&) {}
    /// Returns how many elements are updated at once.
    virtual int64_t elements_at_once() const { return pieces::kStatesOnTheirWay; }

    int64_t steps() const { return steps_; }
    size_t index_of(const Owned& owned) const { return static_cast<size_t>(&owned - owned_.data()); }

    Parameters& parameters_;
    const Config& config_;
    const OptimizerKind kind_;
    std::vector<Owned> owned_;  ///< one per parameter

  private:
    /// New states of part of a cut block, held until the ranks agree on its scale.
    struct Held {
        size_t parameter;
        CutBlocks::Stretch stretch;
        std::vector<at::Tensor> states;
    };

    using OfState = at::Tensor (StoredState::*)(const at::Tensor& places) const;

    std::vector<at::Tensor> read_at(const std::vector<Place>& places, OfState of) const;
    StateFormat format_of(size_t parameter) const;
    Owned own(size_t parameter);
    void update(size_t parameter, double learning_rate, std::vector<Held>& held, at::Tensor& largest);
    void update_whole(Owned& owned, const CutBlocks::Stretch& stretch, double learning_rate);
    void settle(const std::vector<Held>& held, at::Tensor& largest);

    const std::vector<StateSpec> specs_;
    const std::vector<ParameterGroup> groups_;
    std::unique_ptr<CutBlocks> cuts_;
    std::shared_ptr<DiskFile> disk_;  ///< null if states are in memory
    int64_t steps_ = 0;
};

}  // namespace ringmaster
