/// Implements AdamW with states in the weights' dtype, by LibTorch's fused kernel. Source: Loshchilov &
/// Hutter 2019, "Decoupled Weight Decay Regularization", algorithm 2.
#pragma once

#include "engine/optimizers/optimizer.h"

namespace ringmaster {

class AdamW : public Optimizer {
  public:
    /// Makes states in the master's dtype, in host memory if the configuration says so. Norms and biases are
    /// not decayed.
    AdamW(Parameters& parameters, const Config& config);

    void step(double learning_rate) override;
    std::optional<WrittenFile> save(const std::filesystem::path& file, bool writes = true) const override;
    void load(const std::filesystem::path& file, int64_t completed_steps) override;
    std::vector<at::Tensor> states_at(const std::vector<Place>& places) const override;
    std::vector<double> states_after(const Element& element) const override;
    std::optional<double> change_of(const Element& element, int64_t step,
                                    double learning_rate) const override;

  private:
    /// Adjacent parameters of one group, updated in one call.
    struct Part {
        at::Tensor master, gradients, exp_avg, exp_avg_sq;
        ParameterGroup group;

        bool continues(const Part& before) const;
        void join(const Part& next);
        Part rows(int64_t begin, int64_t count) const;
    };

    void update(const Part& part, double learning_rate);

    Parameters& parameters_;
    const Config& config_;
    const std::vector<ParameterGroup> groups_;
    std::vector<Part> parts_;
    Flat exp_avg_;
    Flat exp_avg_sq_;
    at::Tensor steps_;
};

}  // namespace ringmaster
