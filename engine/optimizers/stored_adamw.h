/// Implements AdamW with states in a separate dtype, on a disk, or in the block-wise codes of bitsandbytes
/// and torchao.
///
/// Sources: Dettmers et al. 2022, "8-bit Optimizers via Block-wise Quantization". The order of operations is
/// that of bitsandbytes 0.50 on the CPU (backends/cpu/ops.py) and torchao 0.18 (optim/adam.py).
#pragma once

#include "engine/kernels/block_optimizer.h"
#include "engine/optimizers/stored_optimizer.h"

namespace ringmaster {

class StoredAdamW : public StoredOptimizer {
  public:
    StoredAdamW(Parameters& parameters, const Config& config, const OptimizerKind& kind);

    std::vector<double> states_after(const Element& element) const override;
    std::optional<double> change_of(const Element& element, int64_t step,
                                    double learning_rate) const override;

  private:
    std::vector<at::Tensor> new_states(Owned& owned, int64_t begin, int64_t count,
                                       double learning_rate) override;
    bool update_kernels(Owned& owned, const CutBlocks::Stretch& stretch, double learning_rate) override;
    AdamWNumbers numbers(const Owned& owned, double learning_rate) const;

    AdamWNumbers::Form in_blocks_, in_numbers_;
    /// True if LibTorch's fused kernel (adamw.h) updates: states are on a disk and weights are float32.
    bool is_fused_;
};

}  // namespace ringmaster
