/// Computes a block in tiles of its tokens (Arctic Long Sequence Training, arXiv 2506.13996, section 3.1.2).
#pragma once

#include "engine/blocks/block.h"

namespace ringmaster {

template <class Tensor>
Tensor rows(const Tensor& x_nc, const TokenRange& range) {
    return x_nc.narrow(0, range.begin, range.size());
}

/// Calls `compute` with each tile's tokens, while the matrices that all tiles use stay on the device.
template <class Machine, class Compute>
void each_tile(Machine& machine, const typename Machine::Tensor& x_nc, const Compute& compute) {
    machine.hold_matrices();
    for (const TokenRange& range : machine.tiles(x_nc)) compute(range);
    machine.release_matrices();
}

/// Calls `compute` with each tile's tokens and the beta for its weights' gradients: `beta` for the first
/// tile, and 1 for the others, which add to its gradients.
template <class Machine, class Compute>
void each_tile_backward(Machine& machine, const typename Machine::Tensor& x_nc, double beta,
                        const Compute& compute) {
    machine.begin_tile_sums(x_nc);
    double of_tile = beta;
    each_tile(machine, x_nc, [&](const TokenRange& range) {
        compute(range, of_tile);
        of_tile = 1;
    });
    machine.end_tile_sums(beta);
}

/// A block that may compute its tokens in tiles. The block keeps its input for the backward pass. Without
/// tiles it also keeps the intermediate results of all tokens (a `Tile`).
template <class Machine, class Tile>
class TiledBlock : public Block<Machine> {
  public:
    using Tensor = typename Machine::Tensor;

    void forget(Machine&) override {
        x_nc_.reset();
        whole_ = {};
    }
    void restore(Machine&, const Tensor& x_nc) override { x_nc_ = x_nc; }

  protected:
    Tensor x_nc_;
    Tile whole_;
};

}  // namespace ringmaster
