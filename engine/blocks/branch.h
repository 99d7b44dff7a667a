/// Computes both ends of a layer's branch (attention or MLP): the norm before it, and the norm, the scale and
/// the residual after it.
#pragma once

#include <utility>

#include "engine/blocks/sites.h"

namespace ringmaster {

template <class Machine>
struct Branch {
    using Tensor = typename Machine::Tensor;

    NormSite norm = NormSite::Input, output_norm = NormSite::AttentionOutput;
    bool shares_norm = false;  ///< another block's backward has already set the norm's gradient
    double multiplier = 1;     ///< multiplies the output, in addition to the model's residual multiplier
    Tensor x_nc = {}, rstd_n = {};
    Tensor raw_nc = {}, raw_rstd_n = {};  ///< output before its norm; undefined if the output has no norm

    /// Returns the branch's input: the norm of x_nc, or x_nc itself if the model has no norm there.
    Tensor begin(Machine& machine, const Tensor& x) {
        x_nc = x;
        return machine.model().norms_inputs ? machine.norm(norm, x_nc, rstd_n) : x_nc;
    }

    Tensor begin_again(Machine& machine) const {
        return machine.model().norms_inputs ? machine.norm_again(norm, x_nc, rstd_n) : x_nc;
    }

    /// Computes the backward of `begin` and of the matrices that read its result. `pull` has the gradient of
    /// their outputs (Machine::Pull or ExpertPull).
    template <class Pull>
    void begin_backward(Machine& machine, const Pull& pull, Tensor dx_nc, double beta) const {
        Tensor read_nc = begin_again(machine);
        pull.accumulate(read_nc, beta);
        if (machine.model().norms_inputs)
            machine.norm_backward(norm, pull.input_into(read_nc), x_nc, rstd_n, dx_nc, true,
                                  shares_norm ? 1 : beta);
        else
            dx_nc.add_(pull.input());
    }

    /// Returns the branch's output, plus residual_nc if it is defined; reuses the output's memory.
    Tensor end(Machine& machine, Tensor out_nc, const Tensor& residual_nc) {
        if (machine.model().norms_outputs) out_nc = norm_output(machine, std::move(out_nc));
        if (scale(machine) != 1) machine.scale(out_nc, scale(machine));
        return residual_nc.defined() ? out_nc.add_(residual_nc) : out_nc;
    }

    Tensor norm_output(Machine& machine, Tensor out_nc) {
        raw_nc = std::move(out_nc);
        return machine.norm(output_norm, raw_nc, raw_rstd_n);
    }

    /// Returns the gradient of the branch's output before its norm and scale; frees what `end` kept.
    Tensor end_backward(Machine& machine, const Tensor& dy_nc, double beta) {
        Tensor dout_nc = scale(machine) == 1 ? dy_nc : dy_nc * scale(machine);
        if (!machine.model().norms_outputs) return dout_nc;
        Tensor draw_nc = machine.empty_like(dy_nc);
        machine.norm_backward(output_norm, dout_nc, raw_nc, raw_rstd_n, draw_nc, false, beta);
        raw_nc.reset();
        raw_rstd_n.reset();
        return draw_nc;
    }

    double scale(const Machine& machine) const { return multiplier * machine.model().residual_multiplier; }
};

}  // namespace ringmaster
