/// Computes an MLP and a mixture of experts that both read the layer's hidden states, each with a norm before
/// and a norm after it. One more norm follows their sum.
#pragma once

#include "engine/blocks/block.h"
#include "engine/blocks/branch.h"
#include "engine/blocks/experts.h"
#include "engine/blocks/gated_mlp.h"

namespace ringmaster {

template <class Machine>
class MlpBesideExperts final : public Block<Machine> {
    using Tensor = typename Machine::Tensor;

  public:
    Tensor forward(Machine& machine, const Tensor& x_nc, const Tensor& residual_nc) override {
        return branch_.end(machine, sum(machine, x_nc), residual_nc);
    }

    void forget(Machine& machine) override {
        mlp_.forget(machine);
        experts_.forget(machine);
        branch_.raw_nc.reset();
        branch_.raw_rstd_n.reset();
    }

    void restore(Machine& machine, const Tensor& x_nc) override {
        branch_.norm_output(machine, sum(machine, x_nc));
    }

    void backward(Machine& machine, const Tensor& dy_nc, Tensor dx_nc, double beta) override {
        const Tensor dsum_nc = branch_.end_backward(machine, dy_nc, beta);
        experts_.backward(machine, dsum_nc, dx_nc, beta);
        mlp_.backward(machine, dsum_nc, dx_nc, beta);
    }

  private:
    Tensor sum(Machine& machine, const Tensor& x_nc) {
        const Tensor of_mlp_nc = mlp_.forward(machine, x_nc, machine.zeros_like(x_nc));
        return experts_.forward(machine, x_nc, of_mlp_nc);
    }

    Branch<Machine> branch_ = {NormSite::Mlp, NormSite::MlpOutput};
    GatedMlp<Machine> mlp_{NormSite::Mlp, 1, NormSite::MlpPart};
    Experts<Machine> experts_{NormSite::Experts, NormSite::ExpertsPart};
};

}  // namespace ringmaster
