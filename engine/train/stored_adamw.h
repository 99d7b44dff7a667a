/// AdamW with states of its own dtype, or in codes: bitsandbytes' and torchao's.
///
/// Sources: Dettmers et al. 2022, "8-bit Optimizers via Block-wise Quantization"; the order of operations is
/// that of bitsandbytes 0.50 on the CPU (backends/cpu/ops.py) and torchao 0.18 (optim/adam.py).
#pragma once

#include "engine/kernels/block_optimizer.h"
#include "engine/train/cut_blocks.h"
#include "engine/train/optimizer.h"
#include "engine/train/stored_state.h"

namespace ringmaster {

class StoredAdamW : public Optimizer {
  public:
    StoredAdamW(Parameters& parameters, const Config& config, const OptimizerKind& kind);

    void step(double learning_rate) override;
    std::optional<WrittenFile> save(const std::filesystem::path& file, bool writes = true) const override;
    void load(const std::filesystem::path& file, int64_t completed_steps) override;
    std::vector<at::Tensor> states_at(const std::vector<Place>& places) const override;
    std::vector<double> states_after(const Element& element) const override;
    double change_of(const Element& element, int64_t step, double learning_rate) const override;

    /// Of a parameter's own elements: 0 the first moment, 1 the second. For proofs.
    const StoredState& state(size_t parameter, size_t which) const { return owned_[parameter].states[which]; }

  private:
    struct Owned {
        at::Tensor master, gradients;  ///< of the own elements
        std::vector<StoredState> states;
        bool decays = true;
    };
    /// New moments of a part of a cut block, until its scale is agreed on.
    struct Held {
        size_t parameter;
        CutBlocks::Stretch stretch;
        std::vector<at::Tensor> moments;
    };

    Owned own(size_t parameter, const OptimizerKind& kind);
    AdamWNumbers numbers(const Owned& owned, double learning_rate) const;
    void update_whole(Owned& owned, const CutBlocks::Stretch& stretch, const AdamWNumbers& with);
    void update_kernels(Owned& owned, const CutBlocks::Stretch& stretch, const AdamWNumbers& with);
    std::vector<at::Tensor> new_moments(Owned& owned, int64_t begin, int64_t count, const AdamWNumbers& with);
    void settle(const std::vector<Held>& held, at::Tensor& largest);

    Parameters& parameters_;
    const Config& config_;
    AdamWNumbers::Form in_blocks_, in_numbers_;
    std::vector<Owned> owned_;  ///< of every parameter
    std::unique_ptr<CutBlocks> cuts_;
    int64_t steps_ = 0;
};

}  // namespace ringmaster
