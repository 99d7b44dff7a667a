/// AdamW over a model's flat parameters, by LibTorch's fused kernel; of sharded ones over this rank's slices.
/// Source: Loshchilov & Hutter 2019, "Decoupled Weight Decay Regularization", algorithm 2.
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <optional>
#include <vector>

#include "engine/config/config.h"
#include "engine/model/parameters.h"

namespace ringmaster {

class AdamW {
  public:
    /// States have the master's dtype, and lie in host memory where the configuration says so. Norms and
    /// biases are not decayed.
    AdamW(Parameters& parameters, const Config& config);

    /// One update from the parameters' gradients; brings the weights of computation up, on all ranks.
    void step(double learning_rate);

    // The moments, on the device or in host memory.
    const Flat& exp_avg() const { return exp_avg_; }
    const Flat& exp_avg_sq() const { return exp_avg_sq_; }

    /// Per parameter: exp_avg.<name>, exp_avg_sq.<name>; whole, whoever holds them (as save_weights).
    /// Returns the file if this rank `writes`.
    std::optional<WrittenFile> save(const std::filesystem::path& file, bool writes = true) const;
    /// `completed_steps` goes into the bias correction.
    void load(const std::filesystem::path& file, int64_t completed_steps);

  private:
    /// Neighbouring parameters that are decayed alike, updated in one call.
    struct Part {
        at::Tensor master, gradients, exp_avg, exp_avg_sq;
        bool decays = true;

        bool continues(const Part& before) const;
        void join(const Part& next);
        Part rows(int64_t begin, int64_t count) const;
    };

    void update(const Part& part, double learning_rate);

    Parameters& parameters_;
    const Config& config_;
    std::vector<Part> parts_;
    Flat exp_avg_;
    Flat exp_avg_sq_;
    at::Tensor steps_;
};

/// L2 norm over all gradients, in double over the parameters' own norms; the same on all ranks.
double gradient_norm(Parameters& parameters);

}  // namespace ringmaster
