/// An optimizer whose states belong to single elements, each kept as its format says: numbers, or codes in
/// blocks. Rules derive from it (AdamW, Lion, …) and say how states and weights move.
#pragma once

#include "engine/train/cut_blocks.h"
#include "engine/train/optimizer.h"
#include "engine/train/stored_state.h"

namespace ringmaster {

class StoredOptimizer : public Optimizer {
  public:
    StoredOptimizer(Parameters& parameters, const Config& config, const OptimizerKind& kind);

    void step(double learning_rate) override;
    std::optional<WrittenFile> save(const std::filesystem::path& file, bool writes = true) const override;
    void load(const std::filesystem::path& file, int64_t completed_steps) override;
    std::vector<at::Tensor> states_at(const std::vector<Place>& places) const override;

    /// A state of a parameter's own elements, in the order of states_of. For proofs.
    const StoredState& state(size_t parameter, size_t which) const { return owned_[parameter].states[which]; }

  protected:
    struct Owned {
        at::Tensor master, gradients;  ///< of the own elements
        std::vector<StoredState> states;
        ParameterGroup group;
    };

    /// Moves the weights of own elements [begin, begin + count), and returns their new states.
    virtual std::vector<at::Tensor> new_states(Owned& owned, int64_t begin, int64_t count,
                                               double learning_rate) = 0;
    /// Updates whole blocks by kernels; false if there are none for this parameter.
    virtual bool update_kernels(Owned&, const CutBlocks::Stretch&, double) { return false; }
    /// Returns the numbers that belong to no parameter and go into the file of states; empty for most rules.
    virtual std::vector<double> run_numbers() const { return {}; }
    virtual void take_run_numbers(const std::vector<double>&) {}
    /// Elements that are computed at once.
    virtual int64_t elements_at_once() const { return kStatesOnTheirWay; }

    int64_t steps() const { return steps_; }
    size_t index_of(const Owned& owned) const { return static_cast<size_t>(&owned - owned_.data()); }

    Parameters& parameters_;
    const Config& config_;
    const OptimizerKind kind_;
    std::vector<Owned> owned_;  ///< of every parameter

  private:
    /// New states of a part of a cut block, until its scale is agreed on.
    struct Held {
        size_t parameter;
        CutBlocks::Stretch stretch;
        std::vector<at::Tensor> states;
    };

    StateFormat format_of(size_t parameter) const;
    Owned own(size_t parameter);
    void update_whole(Owned& owned, const CutBlocks::Stretch& stretch, double learning_rate);
    void settle(const std::vector<Held>& held, at::Tensor& largest);

    const std::vector<StateSpec> specs_;
    const std::vector<ParameterGroup> groups_;
    std::unique_ptr<CutBlocks> cuts_;
    int64_t steps_ = 0;
};

}  // namespace ringmaster
