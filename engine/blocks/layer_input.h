/// Adds to the hidden states a term computed from an input that each layer has for each token:
/// norm(projection(f(gate(x)) · input)). The inputs of all layers are computed before the first layer
/// (engine/model/layer_inputs.h). Source: Gemma4TextDecoderLayer of transformers 5.23.
///
/// Letters: N tokens, C hidden, P width of a layer's input.
#pragma once

#include "engine/blocks/block.h"
#include "engine/blocks/branch.h"

namespace ringmaster {

template <class Machine>
class LayerInput final : public Block<Machine> {
    using Tensor = typename Machine::Tensor;

  public:
    Tensor forward(Machine& machine, const Tensor& x_nc, const Tensor& residual_nc) override {
        restore(machine, x_nc);
        return branch_.end(machine, output(machine), residual_nc);
    }

    void forget(Machine&) override { *this = LayerInput(); }

    void restore(Machine& machine, const Tensor& x_nc) override {
        x_nc_ = x_nc;
        both_n2p_ = machine.with_layer_input(machine.linear(LoraSite::LayerGate, x_nc));
    }

    void backward(Machine& machine, const Tensor& dy_nc, Tensor dx_nc, double beta) override {
        if (!branch_.raw_nc.defined()) branch_.norm_output(machine, output(machine));
        {
            const auto pull = machine.pull(LoraSite::LayerOutput, branch_.end_backward(machine, dy_nc, beta));
            const Tensor dact_np = pull.input();
            pull.accumulate(machine.gate_backward(both_n2p_, dact_np, dact_np), beta);
        }
        // At this point both_n2p_ holds the gradients of the gate and the input.
        const int64_t width = machine.model().layer_input_width;
        machine.keep_input_gradient(both_n2p_.narrow(1, width, width));
        const auto pull = machine.pull(LoraSite::LayerGate, both_n2p_.narrow(1, 0, width).clone());
        pull.accumulate(x_nc_, beta);
        dx_nc.add_(pull.input());
    }

  private:
    Tensor output(Machine& machine) const {
        return machine.linear(LoraSite::LayerOutput, machine.gate(both_n2p_));
    }

    Branch<Machine> branch_ = {NormSite::Input, NormSite::LayerInput};
    Tensor x_nc_, both_n2p_;  ///< the gate, and the layer's input
};

}  // namespace ringmaster
