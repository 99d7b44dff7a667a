/// Computes a layer's recurrence (the gated delta rule, or a state space) in place of its attention.
#pragma once

#include <utility>

#include "engine/blocks/block.h"
#include "engine/blocks/branch.h"

namespace ringmaster {

template <class Machine>
class Recurrence final : public Block<Machine> {
    using Tensor = typename Machine::Tensor;

  public:
    explicit Recurrence(double multiplier) { branch_.multiplier = multiplier; }

    Tensor forward(Machine& machine, const Tensor& x_nc, const Tensor& residual_nc) override {
        restore(machine, x_nc);
        return branch_.end(machine, machine.linear(LoraSite::DeltaOutput, gated(machine)), residual_nc);
    }

    void forget(Machine&) override { *this = Recurrence(branch_.multiplier); }

    void restore(Machine& machine, const Tensor& x_nc) override {
        projected_nw_ = machine.linear(LoraSite::DeltaIn, branch_.begin(machine, x_nc));
        recurred_ = machine.recur(projected_nw_);
    }

    void backward(Machine& machine, const Tensor& dy_nc, Tensor dx_nc, double beta) override {
        Tensor dgated_nw;
        {
            const auto pull = machine.pull(LoraSite::DeltaOutput, branch_.end_backward(machine, dy_nc, beta));
            pull.accumulate(gated(machine), beta);
            dgated_nw = pull.input();
        }
        // This call overwrites the projections with their gradients.
        machine.recur_backward(std::move(dgated_nw), projected_nw_, std::move(recurred_), beta);
        branch_.begin_backward(machine, machine.pull(LoraSite::DeltaIn, projected_nw_), dx_nc, beta);
    }

  private:
    Tensor gated(Machine& machine) const { return machine.gated(projected_nw_, recurred_); }

    Branch<Machine> branch_ = {NormSite::Input, NormSite::AttentionOutput};
    Tensor projected_nw_;
    typename Machine::Recurred recurred_;
};

}  // namespace ringmaster
