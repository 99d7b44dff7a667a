/// Computes a layer's MLP, gated or not: down(f(gate(x)) · up(x)). With tiles the block keeps only its input,
/// and the backward pass recomputes each tile.
#pragma once

#include <utility>

#include "engine/blocks/branch.h"
#include "engine/blocks/tiles.h"

namespace ringmaster {

/// Holds consecutive tokens that are computed together.
template <class Machine>
struct MlpTile {
    int64_t first = 0;  ///< index of the tile's first token
    Branch<Machine> branch = {};
    typename Machine::Tensor gate_up_n2i = {};
};

template <class Machine>
class GatedMlp final : public TiledBlock<Machine, MlpTile<Machine>> {
    using Tensor = typename Machine::Tensor;
    using Tile = MlpTile<Machine>;
    using TiledBlock<Machine, Tile>::x_nc_, TiledBlock<Machine, Tile>::whole_;

  public:
    explicit GatedMlp(NormSite norm, double multiplier = 1, NormSite output_norm = NormSite::MlpOutput)
        : norm_(norm), output_norm_(output_norm), multiplier_(multiplier) {}

    Tensor forward(Machine& machine, const Tensor& x_nc, const Tensor& residual_nc) override {
        x_nc_ = x_nc;
        const auto through = [&](Tile& tile, const Tensor& residual) {
            return tile.branch.end(machine, down(machine, tile), residual);
        };
        if (!machine.is_tiled()) {
            whole_ = gate_up(machine, {0, x_nc.size(0)});
            return through(whole_, residual_nc);
        }
        find_outliers(machine);
        Tensor y_nc = machine.empty_like(x_nc);
        each_tile(machine, x_nc, [&](const TokenRange& range) {
            Tile tile = gate_up(machine, range);
            rows(y_nc, range).copy_(through(tile, rows(residual_nc, range)));
        });
        return y_nc;
    }

    void backward(Machine& machine, const Tensor& dy_nc, Tensor dx_nc, double beta) override {
        if (!machine.is_tiled()) {
            if (!whole_.gate_up_n2i.defined()) whole_ = gate_up(machine, {0, x_nc_.size(0)});
            return tile_backward(machine, std::move(whole_), dy_nc, dx_nc, beta);
        }
        each_tile_backward(machine, x_nc_, beta, [&](const TokenRange& range, double of_tile) {
            tile_backward(machine, gate_up(machine, range), rows(dy_nc, range), rows(dx_nc, range), of_tile);
        });
    }

  private:
    Tile gate_up(Machine& machine, const TokenRange& range) {
        Tile tile{range.begin, branch()};
        tile.gate_up_n2i =
            machine.linear(LoraSite::GateUp, tile.branch.begin(machine, rows(x_nc_, range)), range.begin);
        scale_gates(machine, tile);
        return tile;
    }

    /// Multiplies the gates, or their gradients, by the model's gate multiplier.
    static void scale_gates(const Machine& machine, const Tile& tile) {
        const double multiplier = machine.model().gate_multiplier;
        if (multiplier != 1)
            machine.scale(tile.gate_up_n2i.narrow(1, 0, tile.gate_up_n2i.size(1) / 2), multiplier);
    }

    Branch<Machine> branch() const {
        Branch<Machine> made{norm_, output_norm_};
        made.multiplier = multiplier_;
        return made;
    }

    Tensor down(Machine& machine, const Tile& tile) {
        return machine.linear(LoraSite::Down, machine.gate(tile.gate_up_n2i), tile.first);
    }

    /// Finds the outlier columns of all tiles' inputs before any tile is computed.
    void find_outliers(Machine& machine) {
        if (!machine.quantizes_inputs()) return;
        for (const TokenRange& range : machine.tiles(x_nc_))
            machine.look(branch().begin(machine, rows(x_nc_, range)), range.begin);
        machine.settle(LoraSite::GateUp, x_nc_);
        for (const TokenRange& range : machine.tiles(x_nc_))
            machine.look(machine.gate(gate_up(machine, range).gate_up_n2i), range.begin);
        machine.settle(LoraSite::Down, x_nc_);
    }

    void tile_backward(Machine& machine, Tile tile, const Tensor& dy_nc, Tensor dx_nc, double beta) {
        if (machine.model().norms_outputs && !tile.branch.raw_nc.defined())
            tile.branch.norm_output(machine, down(machine, tile));
        {
            const auto pull =
                machine.pull(LoraSite::Down, tile.branch.end_backward(machine, dy_nc, beta), tile.first);
            const Tensor dact_ni = pull.input();
            pull.accumulate(machine.gate_backward(tile.gate_up_n2i, dact_ni, dact_ni), beta);
            scale_gates(machine, tile);
        }
        // gate_backward has overwritten gate and up with their gradients, and dact_ni with the forward's
        // product (as Liger Kernel's SwiGLU does, arXiv 2410.10989).
        tile.branch.begin_backward(machine, machine.pull(LoraSite::GateUp, tile.gate_up_n2i, tile.first),
                                   dx_nc, beta);
    }

    NormSite norm_, output_norm_;
    double multiplier_;
};

}  // namespace ringmaster
