/// AdamW over a model's flat parameters, by LibTorch's fused kernel.
/// Source: Loshchilov & Hutter 2019, "Decoupled Weight Decay Regularization", algorithm 2.
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <vector>

#include "engine/config/config.h"
#include "engine/model/parameters.h"

namespace ringmaster {

class AdamW {
  public:
    /// States have the master's dtype. Norms and biases are not decayed.
    AdamW(Parameters& parameters, const Config& config);

    /// One update from the parameters' gradients; brings the compute copy up.
    void step(double learning_rate);

    /// Per parameter: exp_avg.<name>, exp_avg_sq.<name>. `completed_steps` goes into the bias correction.
    void save(const std::filesystem::path& file) const;
    void load(const std::filesystem::path& file, int64_t completed_steps);

  private:
    /// Neighbouring parameters that are decayed alike, updated in one call.
    struct Part {
        FlatRange range;
        bool decays = true;
    };

    Parameters& parameters_;
    const Config& config_;
    std::vector<Part> parts_;
    at::Tensor exp_avg_;
    at::Tensor exp_avg_sq_;
    at::Tensor steps_;
};

/// L2 norm over all gradients, in double over the parameters' own norms.
double gradient_norm(Parameters& parameters);

}  // namespace ringmaster
