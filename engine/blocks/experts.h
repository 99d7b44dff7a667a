/// Computes a mixture of experts in place of a layer's MLP: a router chooses some gated MLPs for each token,
/// and weights their outputs. The choice is kept, so that a layer or tile that is computed again uses the
/// same experts.
#pragma once

#include <utility>
#include <vector>

#include "engine/blocks/block.h"
#include "engine/blocks/branch.h"

namespace ringmaster {

template <class Machine>
class Experts final : public Block<Machine> {
    using Tensor = typename Machine::Tensor;

    /// Holds consecutive tokens that are computed together. Rows are pairs of a token and one of its experts.
    struct Tile {
        int64_t first = 0;  ///< index of its first token
        Branch<Machine> branch = {};
        typename Machine::Routing routing = {};
        Tensor gate_up_m2i = {};
    };

  public:
    explicit Experts(NormSite norm) : norm_(norm) {}

    Tensor forward(Machine& machine, const Tensor& x_nc, const Tensor& residual_nc) override {
        x_nc_ = x_nc;
        chosen_nk_.clear();
        const auto through = [&](Tile& tile, const Tensor& residual) {
            chosen_nk_.push_back(tile.routing.chosen_nk);
            return tile.branch.end(machine, machine.experts_output(tile.gate_up_m2i, tile.routing), residual);
        };
        if (!machine.is_tiled()) {
            whole_ = gate_up(machine, {0, x_nc.size(0)}, {});
            return through(whole_, residual_nc);
        }
        Tensor y_nc = machine.empty_like(x_nc);
        for (const TokenRange& range : machine.tiles(x_nc)) {
            Tile tile = gate_up(machine, range, {});
            rows(y_nc, range).copy_(through(tile, rows(residual_nc, range)));
        }
        return y_nc;
    }

    void forget(Machine&) override {
        x_nc_.reset();
        whole_ = {};
    }

    void restore(Machine&, const Tensor& x_nc) override { x_nc_ = x_nc; }

    void backward(Machine& machine, const Tensor& dy_nc, Tensor dx_nc, double beta) override {
        auto chosen_nk = chosen_nk_.begin();
        if (!machine.is_tiled()) {
            if (!whole_.gate_up_m2i.defined()) whole_ = gate_up(machine, {0, x_nc_.size(0)}, *chosen_nk);
            return tile_backward(machine, std::move(whole_), dy_nc, dx_nc, beta);
        }
        for (const TokenRange& range : machine.tiles(x_nc_)) {
            tile_backward(machine, gate_up(machine, range, *chosen_nk++), rows(dy_nc, range),
                          rows(dx_nc, range), beta);
            beta = 1;
        }
    }

  private:
    static Tensor rows(const Tensor& x_nc, const TokenRange& range) {
        return x_nc.narrow(0, range.begin, range.size());
    }

    /// Computes gate and up by the experts in chosen_nk; if it is undefined, the router chooses.
    Tile gate_up(Machine& machine, const TokenRange& range, const Tensor& chosen_nk) {
        Tile tile{range.begin, {norm_, NormSite::MlpOutput}};
        const Tensor read_nc = tile.branch.begin(machine, rows(x_nc_, range));
        tile.routing = machine.route(read_nc, range.begin, chosen_nk);
        tile.gate_up_m2i = machine.experts_gate_up(read_nc, tile.routing);
        return tile;
    }

    void tile_backward(Machine& machine, Tile tile, const Tensor& dy_nc, Tensor dx_nc, double beta) {
        Branch<Machine>& branch = tile.branch;
        if (machine.model().norms_outputs && !branch.raw_nc.defined())
            branch.norm_output(machine, machine.experts_output(tile.gate_up_m2i, tile.routing));
        // This call overwrites gate and up with their gradients.
        const Tensor dweights_m = machine.experts_down_backward(branch.end_backward(machine, dy_nc, beta),
                                                                tile.gate_up_m2i, tile.routing, beta);
        branch.begin_backward(machine,
                              machine.pull_experts(tile.gate_up_m2i, dweights_m, tile.routing, tile.first),
                              dx_nc, beta);
    }

    const NormSite norm_;
    Tensor x_nc_;
    Tile whole_;                     ///< all tokens, unless there are tiles
    std::vector<Tensor> chosen_nk_;  ///< expert choices of each tile
};

}  // namespace ringmaster
