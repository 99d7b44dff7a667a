/// Computes the expert that every token of a mixture uses: a gated MLP whose output is added to that of the
/// chosen experts. Some models multiply that output by a sigmoid gate first, one number per token.
#pragma once

#include <optional>

#include "engine/blocks/sites.h"

namespace ringmaster {

template <class Machine>
struct SharedExpert {
    using Tensor = typename Machine::Tensor;

    int64_t first = 0;  ///< index of the first token
    Tensor gate_up_n2i = {};
    Tensor shares_n1 = {};  ///< gates before the sigmoid; undefined if the model has no gate

    void read(Machine& machine, const Tensor& read_nc) {
        gate_up_n2i = machine.linear(LoraSite::SharedGateUp, read_nc, first);
        if (machine.model().gates_shared_expert)
            shares_n1 = machine.linear(LoraSite::SharedGate, read_nc, first);
    }

    void add_output(Machine& machine, const Tensor& out_nc) const {
        const Tensor y_nc = machine.linear(LoraSite::SharedDown, machine.gate(gate_up_n2i), first);
        if (shares_n1.defined())
            machine.add_share(out_nc, y_nc, shares_n1);
        else
            out_nc.add_(y_nc);
    }

    /// Overwrites gate_up_n2i and shares_n1 with their gradients, given that of the mixture's output. The
    /// gradient of a share is Σ dy · y = Σ dact · act, so y need not be recomputed.
    void down_backward(Machine& machine, const Tensor& dout_nc, double beta) {
        const auto pull = machine.pull(LoraSite::SharedDown, dout_nc, first);
        const Tensor dact_ni = pull.input();
        pull.accumulate(shares_n1.defined() ? machine.share_backward(shares_n1, dact_ni, gate_up_n2i)
                                            : machine.gate_backward(gate_up_n2i, dact_ni, dact_ni),
                        beta);
    }

    /// Holds the backward pass of `read`.
    struct Pull {
        typename Machine::Pull gate_up;
        std::optional<typename Machine::Pull> shares;

        void accumulate(const Tensor& x_nc, double beta) const {
            gate_up.accumulate(x_nc, beta);
            if (shares) shares->accumulate(x_nc, beta);
        }
        /// Adds the gradient of the input to dx_nc; overwrites scratch_nc.
        void add_input(const Tensor& dx_nc, const Tensor& scratch_nc) const {
            dx_nc.add_(gate_up.input_into(scratch_nc));
            if (shares) dx_nc.add_(shares->input_into(scratch_nc));
        }
    };
    Pull pull(Machine& machine) const {
        Pull pull{machine.pull(LoraSite::SharedGateUp, gate_up_n2i, first), {}};
        if (shares_n1.defined()) pull.shares.emplace(machine.pull(LoraSite::SharedGate, shares_n1, first));
        return pull;
    }
};

}  // namespace ringmaster
