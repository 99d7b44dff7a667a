/// Computes a short convolution between two gates in place of a layer's attention.
#pragma once

#include <utility>

#include "engine/blocks/block.h"
#include "engine/blocks/branch.h"

namespace ringmaster {

template <class Machine>
class Convolution final : public Block<Machine> {
    using Tensor = typename Machine::Tensor;

  public:
    Tensor forward(Machine& machine, const Tensor& x_nc, const Tensor& residual_nc) override {
        restore(machine, x_nc);
        return branch_.end(machine, machine.linear(LoraSite::DeltaOutput, machine.convolve(projected_nw_)),
                           residual_nc);
    }

    void forget(Machine&) override { *this = Convolution(); }

    void restore(Machine& machine, const Tensor& x_nc) override {
        projected_nw_ = machine.linear(LoraSite::DeltaIn, branch_.begin(machine, x_nc));
    }

    void backward(Machine& machine, const Tensor& dy_nc, Tensor dx_nc, double beta) override {
        Tensor dconvolved_nc;
        {
            const auto pull = machine.pull(LoraSite::DeltaOutput, branch_.end_backward(machine, dy_nc, beta));
            pull.accumulate(machine.convolve(projected_nw_), beta);
            dconvolved_nc = pull.input();
        }
        // This call overwrites the projections with their gradients.
        machine.convolve_backward(std::move(dconvolved_nc), projected_nw_, beta);
        branch_.begin_backward(machine, machine.pull(LoraSite::DeltaIn, projected_nw_), dx_nc, beta);
    }

  private:
    Branch<Machine> branch_ = {NormSite::Input, NormSite::AttentionOutput};
    Tensor projected_nw_;
};

}  // namespace ringmaster
