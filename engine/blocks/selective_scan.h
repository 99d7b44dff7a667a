/// Computes a layer's Mamba-1 state space in place of its attention. The first matrix gives channels, which
/// are convolved. From these, a second matrix computes the keys, the queries, and a short vector for the
/// steps, each with its own norm. A third matrix computes the steps from that vector. Source: JambaMambaMixer
/// in transformers 5.23.
///
/// Letters: N tokens, E channels, R rank of the steps, K size of a channel's state.
#pragma once

#include <utility>

#include "engine/blocks/block.h"
#include "engine/blocks/branch.h"

namespace ringmaster {

template <class Machine>
class SelectiveScanBlock final : public Block<Machine> {
    using Tensor = typename Machine::Tensor;

    /// Holds some columns of the second matrix's output, and their norm.
    struct Part {
        NormSite norm;
        Tensor raw_nw = {}, rstd_n = {};

        Tensor read(Machine& machine, const Tensor& columns_nw) {
            raw_nw = columns_nw.clone();
            return machine.norm(norm, raw_nw, rstd_n);
        }
        Tensor again(Machine& machine) const { return machine.norm_again(norm, raw_nw, rstd_n); }
        /// Writes the gradient of the columns.
        void backward(Machine& machine, const Tensor& dy_nw, Tensor dcolumns_nw, double beta) const {
            const Tensor draw_nw = machine.empty_like(raw_nw);
            machine.norm_backward(norm, dy_nw, raw_nw, rstd_n, draw_nw, false, beta);
            dcolumns_nw.copy_(draw_nw);
        }
    };

  public:
    Tensor forward(Machine& machine, const Tensor& x_nc, const Tensor& residual_nc) override {
        restore(machine, x_nc);
        return branch_.end(machine,
                           machine.linear(LoraSite::DeltaOutput, machine.gated(projected_nw_, recurred_)),
                           residual_nc);
    }

    void forget(Machine&) override { *this = SelectiveScanBlock(); }

    void restore(Machine& machine, const Tensor& x_nc) override {
        const int64_t rank = machine.model().delta.state_space.step_rank, K = machine.model().delta.keys();
        projected_nw_ = machine.linear(LoraSite::DeltaIn, branch_.begin(machine, x_nc));
        channels_ne_ = machine.convolve_channels(projected_nw_);
        const Tensor read_nw = machine.linear(LoraSite::SelectIn, channels_ne_);
        const Tensor steps_ne =
            machine.linear(LoraSite::Steps, steps_.read(machine, read_nw.narrow(1, 0, rank)));
        const Tensor keys_nk = keys_.read(machine, read_nw.narrow(1, rank, K));
        const Tensor queries_nk = queries_.read(machine, read_nw.narrow(1, rank + K, K));
        recurred_ = machine.scan({channels_ne_, steps_ne, keys_nk, queries_nk});
    }

    void backward(Machine& machine, const Tensor& dy_nc, Tensor dx_nc, double beta) override {
        Tensor dgated_ne;
        {
            const auto pull = machine.pull(LoraSite::DeltaOutput, branch_.end_backward(machine, dy_nc, beta));
            pull.accumulate(machine.gated(projected_nw_, recurred_), beta);
            dgated_ne = pull.input();
        }
        Tensor dchannels_ne = scan_backward(machine, std::move(dgated_ne), beta);
        machine.convolve_channels_backward(std::move(dchannels_ne), projected_nw_, beta);
        branch_.begin_backward(machine, machine.pull(LoraSite::DeltaIn, projected_nw_), dx_nc, beta);
    }

  private:
    /// Returns the gradient of the channels after their convolution, given that of the gated output.
    Tensor scan_backward(Machine& machine, Tensor dgated_ne, double beta) {
        const int64_t rank = machine.model().delta.state_space.step_rank, K = machine.model().delta.keys();
        Tensor dread_nw;
        Tensor dchannels_ne;
        {
            const Tensor read_nr = steps_.again(machine);
            auto d = machine.scan_backward(std::move(dgated_ne), projected_nw_,
                                           {channels_ne_, machine.linear(LoraSite::Steps, read_nr),
                                            keys_.again(machine), queries_.again(machine)},
                                           std::move(recurred_), beta);
            dread_nw = machine.selected_like(read_nr);
            keys_.backward(machine, d.keys, dread_nw.narrow(1, rank, K), beta);
            queries_.backward(machine, d.queries, dread_nw.narrow(1, rank + K, K), beta);
            const auto pull = machine.pull(LoraSite::Steps, std::move(d.steps));
            pull.accumulate(read_nr, beta);
            steps_.backward(machine, pull.input_into(read_nr), dread_nw.narrow(1, 0, rank), beta);
            dchannels_ne = std::move(d.channels);
        }
        const auto pull = machine.pull(LoraSite::SelectIn, dread_nw);
        pull.accumulate(channels_ne_, beta);
        // Nothing reads the channels after this, so their gradient through the second matrix reuses their
        // memory.
        dchannels_ne.add_(pull.input_into(channels_ne_));
        channels_ne_.reset();
        return dchannels_ne;
    }

    Branch<Machine> branch_ = {NormSite::Input, NormSite::AttentionOutput};
    Tensor projected_nw_, channels_ne_;
    Part steps_{NormSite::Steps}, keys_{NormSite::StateKeys}, queries_{NormSite::StateQueries};
    typename Machine::Recurred recurred_;
};

}  // namespace ringmaster
