/// Computes a mixture of experts in place of a layer's MLP: a router chooses some gated MLPs for each token,
/// and weights their outputs; a model may add an expert that every token uses. The choice is kept, so that a
/// recomputed layer or tile uses the same experts.
#pragma once

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "engine/blocks/branch.h"
#include "engine/blocks/shared_expert.h"
#include "engine/blocks/tiles.h"

namespace ringmaster {

/// Holds consecutive tokens that are computed together. Rows are pairs of a token and one of its experts.
template <class Machine>
struct ExpertsTile {
    using Tensor = typename Machine::Tensor;

    int64_t first = 0;  ///< index of the tile's first token
    Branch<Machine> branch = {};
    typename Machine::Routing routing = {};
    Tensor router_rstd_n = {};  ///< rstd of the router's norm, if the router has a norm
    Tensor gate_up_m2i = {};
    SharedExpert<Machine> shared = {};
};

template <class Machine>
class Experts final : public TiledBlock<Machine, ExpertsTile<Machine>> {
    using Tensor = typename Machine::Tensor;
    using Tile = ExpertsTile<Machine>;
    using TiledBlock<Machine, Tile>::x_nc_, TiledBlock<Machine, Tile>::whole_;

    /// Holds the backward passes of the matrices that read the mixture's input.
    struct Pull {
        Machine& machine;
        int64_t first;
        typename Machine::ExpertPull chosen;
        /// Backward pass of the matrix before the experts
        std::optional<typename Machine::Pull> latent = {};
        std::optional<typename SharedExpert<Machine>::Pull> shared = {};

        void accumulate(const Tensor& x_nc, double beta) const {
            chosen.accumulate(x_nc, read_by_experts(machine, x_nc, first), beta);
            if (latent) latent->accumulate(x_nc, beta);
            if (shared) shared->accumulate(x_nc, beta);
        }
        Tensor input() const {
            Tensor dx_nc = of_chosen();
            if (shared) shared->add_input(dx_nc, machine.empty_like(dx_nc));
            return dx_nc;
        }
        Tensor input_into(const Tensor& scratch_nc) const {
            Tensor dx_nc = of_chosen();
            if (shared) shared->add_input(dx_nc, scratch_nc);
            return dx_nc;
        }

      private:
        Tensor of_chosen() const {
            Tensor dx_nc = latent ? latent->input() : chosen.experts_input();
            chosen.add_router_input(dx_nc);
            return dx_nc;
        }
    };

  public:
    explicit Experts(NormSite norm, NormSite output_norm = NormSite::MlpOutput)
        : norm_(norm), output_norm_(output_norm) {}

    Tensor forward(Machine& machine, const Tensor& x_nc, const Tensor& residual_nc) override {
        x_nc_ = x_nc;
        // A repeated forward pass uses the same experts.
        const std::vector<Tensor> known_nk = std::exchange(chosen_nk_, {});
        const auto known = [&] { return known_nk.empty() ? Tensor() : known_nk[chosen_nk_.size()]; };
        const auto through = [&](Tile& tile, const Tensor& residual) {
            chosen_nk_.push_back(tile.routing.chosen_nk);
            return tile.branch.end(machine, output(machine, tile), residual);
        };
        if (!machine.is_tiled()) {
            whole_ = gate_up(machine, {0, x_nc.size(0)}, known());
            return through(whole_, residual_nc);
        }
        find_outliers(machine);
        Tensor y_nc = machine.empty_like(x_nc);
        each_tile(machine, x_nc, [&](const TokenRange& range) {
            Tile tile = gate_up(machine, range, known());
            rows(y_nc, range).copy_(through(tile, rows(residual_nc, range)));
        });
        return y_nc;
    }

    void backward(Machine& machine, const Tensor& dy_nc, Tensor dx_nc, double beta) override {
        auto chosen_nk = chosen_nk_.begin();
        if (!machine.is_tiled()) {
            if (!whole_.gate_up_m2i.defined()) whole_ = gate_up(machine, {0, x_nc_.size(0)}, *chosen_nk);
            return tile_backward(machine, std::move(whole_), dy_nc, dx_nc, beta);
        }
        each_tile_backward(machine, x_nc_, beta, [&](const TokenRange& range, double of_tile) {
            tile_backward(machine, gate_up(machine, range, *chosen_nk++), rows(dy_nc, range),
                          rows(dx_nc, range), of_tile);
        });
    }

  private:
    static bool has_latent(const Machine& machine) { return machine.model().expert_latent_size > 0; }
    /// Returns the experts' input for read_nc, which holds the tokens from `first` on.
    static Tensor read_by_experts(Machine& machine, const Tensor& read_nc, int64_t first) {
        return has_latent(machine) ? machine.linear(LoraSite::ExpertsIn, read_nc, first) : read_nc;
    }
    static bool has_shared(const Machine& machine) {
        return machine.model().shared_expert_intermediate_size > 0;
    }

    /// Computes gate and up of the experts in chosen_nk; if chosen_nk is undefined, the router chooses the
    /// experts.
    Tile gate_up(Machine& machine, const TokenRange& range, const Tensor& chosen_nk) {
        Tile tile{range.begin, branch()};
        tile.shared.first = range.begin;
        const Tensor read_nc = tile.branch.begin(machine, rows(x_nc_, range));
        if (machine.model().router.norms_input) {
            const Tensor normed_nc = machine.norm(NormSite::Router, tile.branch.x_nc, tile.router_rstd_n);
            tile.routing =
                machine.route(machine.scale(normed_nc, router_scale(machine)), range.begin, chosen_nk);
        } else {
            tile.routing = machine.route(read_nc, range.begin, chosen_nk);
        }
        tile.gate_up_m2i =
            machine.experts_gate_up(read_by_experts(machine, read_nc, range.begin), tile.routing);
        if (has_shared(machine)) tile.shared.read(machine, read_nc);
        return tile;
    }

    static double router_scale(const Machine& machine) {
        return 1 / std::sqrt(double(machine.model().hidden_size));
    }

    /// Computes the backward of a router that has a separate norm of the hidden states.
    void router_backward(Machine& machine, const Tile& tile, const typename Machine::ExpertPull& pull,
                         const Tensor& dx_nc, double beta) const {
        const Tensor& x_nc = tile.branch.x_nc;
        const Tensor read_nc = machine.norm_again(NormSite::Router, x_nc, tile.router_rstd_n);
        const Tensor dread_nc =
            pull.router_input(machine.scale(read_nc, router_scale(machine)), tile.first, beta);
        machine.norm_backward(NormSite::Router, machine.scale(dread_nc, router_scale(machine)), x_nc,
                              tile.router_rstd_n, dx_nc, true, beta);
    }

    Branch<Machine> branch() const { return {norm_, output_norm_}; }

    Tensor output(Machine& machine, const Tile& tile) const {
        Tensor out_nc = machine.experts_output(tile.gate_up_m2i, tile.routing);
        if (has_latent(machine)) out_nc = machine.linear(LoraSite::ExpertsOut, out_nc, tile.first);
        if (has_shared(machine)) tile.shared.add_output(machine, out_nc);
        return out_nc;
    }

    /// Finds the outlier columns of all tiles' inputs before any tile is computed.
    void find_outliers(Machine& machine) {
        if (!machine.quantizes_inputs()) return;
        if (machine.model().router.norms_input) find_outliers_of_router(machine);
        if (has_latent(machine)) find_outliers_of_latents(machine);
        if (has_shared(machine)) find_outliers_of_shared(machine);
    }

    void find_outliers_of_router(Machine& machine) {
        for (const TokenRange& range : machine.tiles(x_nc_)) {
            Tensor rstd_n;
            const Tensor read_nc = machine.norm(NormSite::Router, rows(x_nc_, range), rstd_n);
            machine.look(machine.scale(read_nc, router_scale(machine)), range.begin);
        }
        machine.settle(LoraSite::Router, x_nc_);
    }

    void find_outliers_of_latents(Machine& machine) {
        for (const TokenRange& range : machine.tiles(x_nc_))
            machine.look(branch().begin(machine, rows(x_nc_, range)), range.begin);
        machine.settle(LoraSite::ExpertsIn, x_nc_);
        for (const TokenRange& range : machine.tiles(x_nc_)) {
            const Tile tile = gate_up(machine, range, {});
            machine.look(machine.experts_output(tile.gate_up_m2i, tile.routing), range.begin);
        }
        machine.settle(LoraSite::ExpertsOut, x_nc_);
    }

    void find_outliers_of_shared(Machine& machine) {
        const auto find = [&](LoraSite site, const auto& input_of) {
            for (const TokenRange& range : machine.tiles(x_nc_)) {
                SharedExpert<Machine> shared{range.begin};
                machine.look(input_of(shared, branch().begin(machine, rows(x_nc_, range))), range.begin);
            }
            machine.settle(site, x_nc_);
        };
        const auto read = [](auto&, const Tensor& read_nc) { return read_nc; };
        find(LoraSite::SharedGateUp, read);
        if (machine.model().gates_shared_expert) find(LoraSite::SharedGate, read);
        find(LoraSite::SharedDown, [&](SharedExpert<Machine>& shared, const Tensor& read_nc) {
            shared.read(machine, read_nc);
            return machine.gate(shared.gate_up_n2i);
        });
    }

    void tile_backward(Machine& machine, Tile tile, const Tensor& dy_nc, Tensor dx_nc, double beta) {
        Branch<Machine>& branch = tile.branch;
        if (machine.model().norms_outputs && !branch.raw_nc.defined())
            branch.norm_output(machine, output(machine, tile));
        Tensor dout_nc = branch.end_backward(machine, dy_nc, beta);
        // These calls overwrite gates, ups and shares with their gradients.
        if (has_shared(machine)) tile.shared.down_backward(machine, dout_nc, beta);
        if (has_latent(machine)) dout_nc = latent_backward(machine, tile, std::move(dout_nc), beta);
        const Tensor dweights_m =
            machine.experts_down_backward(std::move(dout_nc), tile.gate_up_m2i, tile.routing, beta);
        Pull pull{machine, tile.first,
                  machine.pull_experts(tile.gate_up_m2i, dweights_m, tile.routing, tile.first)};
        if (has_latent(machine))
            pull.latent.emplace(machine.pull(LoraSite::ExpertsIn, pull.chosen.experts_input(), tile.first));
        if (has_shared(machine)) pull.shared.emplace(tile.shared.pull(machine));
        branch.begin_backward(machine, pull, dx_nc, beta);
        if (machine.model().router.norms_input) router_backward(machine, tile, pull.chosen, dx_nc, beta);
    }

    /// Returns the gradient of the experts' output, given that of the hidden states.
    static Tensor latent_backward(Machine& machine, const Tile& tile, Tensor dout_nc, double beta) {
        const auto pull = machine.pull(LoraSite::ExpertsOut, std::move(dout_nc), tile.first);
        pull.accumulate(machine.experts_output(tile.gate_up_m2i, tile.routing), beta);
        return pull.input();
    }

    const NormSite norm_, output_norm_;
    std::vector<Tensor> chosen_nk_;  ///< expert choices of each tile
};

}  // namespace ringmaster
