/// Computes attention and a recurrence that read the same normalised input, and adds both outputs.
#pragma once

#include "engine/blocks/attention.h"
#include "engine/blocks/block.h"
#include "engine/blocks/recurrence.h"

namespace ringmaster {

template <class Machine>
class RecurrenceBesideAttention final : public Block<Machine> {
    using Tensor = typename Machine::Tensor;

  public:
    /// Attention runs last in the backward pass, so it adds to the norm's gradient.
    RecurrenceBesideAttention(const LayerKind& kind, const ModelConfig& model)
        : attention_(kind, true, model.attention_multiplier), recurrence_(model.delta.state_space.output) {}

    Tensor forward(Machine& machine, const Tensor& x_nc, const Tensor& residual_nc) override {
        // Sums the two outputs first and adds the larger residual last, so that 16-bit sums round only once
        // at the residual's magnitude.
        return recurrence_.forward(machine, x_nc, attention_.forward(machine, x_nc, {})).add_(residual_nc);
    }

    void forget(Machine& machine) override {
        attention_.forget(machine);
        recurrence_.forget(machine);
    }

    void restore(Machine& machine, const Tensor& x_nc) override {
        attention_.restore(machine, x_nc);
        recurrence_.restore(machine, x_nc);
    }

    void backward(Machine& machine, const Tensor& dy_nc, Tensor dx_nc, double beta) override {
        const Tensor own_nc = dy_nc.clone();  // dx_nc may be dy_nc
        recurrence_.backward(machine, own_nc, dx_nc, beta);
        attention_.backward(machine, own_nc, dx_nc, beta);
    }

  private:
    Attention<Machine> attention_;
    Recurrence<Machine> recurrence_;
};

}  // namespace ringmaster
