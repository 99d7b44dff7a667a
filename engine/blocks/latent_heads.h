/// Makes the heads of multi-head latent attention: queries from one latent, keys and values from another, and
/// a rotated part of the keys that all heads share. Source: DeepSeek-AI 2024, "DeepSeek-V2", arXiv
/// 2405.04434, section 2.1.
///
/// Letters: N tokens, R width of a latent, W any width.
#pragma once

#include <optional>
#include <utility>

#include "engine/blocks/sites.h"
#include "engine/families/latent_sizes.h"

namespace ringmaster {

template <class Machine>
class LatentHeads {
    using Tensor = typename Machine::Tensor;
    using SentLatents = typename Machine::SentLatents;

    struct Latent {
        Tensor raw_nr = {}, rstd_n = {};

        Tensor up(Machine& machine, NormSite norm, LoraSite site, const Tensor& latent_nr) {
            raw_nr = latent_nr.clone();
            return machine.linear(site, machine.norm(norm, raw_nr, rstd_n));
        }
        /// Writes the gradient of the latent to dlatent_nr. `sent` holds the part that other ranks computed,
        /// if any.
        void backward(Machine& machine, NormSite norm, LoraSite site, const Tensor& dy_nw, Tensor dlatent_nr,
                      double beta, const SentLatents& sent = {}) const {
            const auto pull = machine.pull(site, dy_nw);
            const Tensor read_nr = machine.norm_again(norm, raw_nr, rstd_n);
            pull.accumulate(read_nr, sent.accumulated ? 1 : beta);
            const Tensor draw_nr = machine.empty_like(raw_nr);
            Tensor dread_nr = pull.input_into(read_nr);
            if (sent.dlatents_nr.defined()) dread_nr.add_(sent.dlatents_nr);
            machine.norm_backward(norm, dread_nr, raw_nr, rstd_n, draw_nr, false, beta);
            dlatent_nr.copy_(draw_nr);
        }
    };

  public:
    /// Returns all heads' queries, then keys, then values, each padded with zeros to head_dim.
    Tensor read(Machine& machine, const Tensor& read_nc) {
        const LatentSizes& sizes = machine.model().latent;
        const Tensor latents_nw = machine.linear(LoraSite::LatentIn, read_nc);
        const Tensor q_nw = sizes.query_rank == 0
                                ? machine.linear(LoraSite::Qkv, read_nc)
                                : queries_.up(machine, NormSite::QueryLatent, LoraSite::QueryUp,
                                              latents_nw.narrow(1, 0, sizes.query_rank));
        const Tensor kv_nw = keys_.up(machine, NormSite::KeyValueLatent, LoraSite::KeyValueUp,
                                      latents_nw.narrow(1, sizes.query_rank, sizes.rank));
        return machine.join_heads(q_nw, kv_nw,
                                  latents_nw.narrow(1, sizes.query_rank + sizes.rank, sizes.rotary_width));
    }

    /// Returns the latents that ranks send in place of keys and values; empty if they send keys and values.
    /// qkv_nw must already be rotated.
    SentLatents sent(Machine& machine, const Tensor& qkv_nw) const {
        if (!machine.sends_latents()) return {};
        return machine.sent_latents(machine.norm_again(NormSite::KeyValueLatent, keys_.raw_nr, keys_.rstd_n),
                                    qkv_nw);
    }

    /// Holds the backward pass of the matrices that read the hidden states.
    struct Pull {
        typename Machine::Pull latents;
        std::optional<typename Machine::Pull> queries;

        void accumulate(const Tensor& x_nc, double beta) const {
            latents.accumulate(x_nc, beta);
            if (queries) queries->accumulate(x_nc, beta);
        }
        Tensor input() const { return with_queries(latents.input()); }
        Tensor input_into(const Tensor& out_nc) const { return with_queries(latents.input_into(out_nc)); }

      private:
        Tensor with_queries(Tensor dx_nc) const {
            if (queries) dx_nc.add_(queries->input());
            return dx_nc;
        }
    };

    /// Computes the backward pass up to the latents. `dqkv_nw` is the gradient of the result of `read`, and
    /// `sent` holds the gradients of the latents that other ranks received.
    Pull pull(Machine& machine, Tensor dqkv_nw, double beta, const SentLatents& sent) const {
        const LatentSizes& sizes = machine.model().latent;
        auto d = machine.split_heads(dqkv_nw);
        dqkv_nw.reset();
        const Tensor dlatents_nw = machine.latents_like(d.rotary_nr);
        dlatents_nw.narrow(1, sizes.query_rank + sizes.rank, sizes.rotary_width).copy_(d.rotary_nr);
        keys_.backward(machine, NormSite::KeyValueLatent, LoraSite::KeyValueUp, std::move(d.kv_nw),
                       dlatents_nw.narrow(1, sizes.query_rank, sizes.rank), beta, sent);
        if (sizes.query_rank == 0)
            return {machine.pull(LoraSite::LatentIn, dlatents_nw), machine.pull(LoraSite::Qkv, d.q_nw)};
        queries_.backward(machine, NormSite::QueryLatent, LoraSite::QueryUp, std::move(d.q_nw),
                          dlatents_nw.narrow(1, 0, sizes.query_rank), beta);
        return {machine.pull(LoraSite::LatentIn, dlatents_nw), {}};
    }

  private:
    Latent queries_, keys_;
};

}  // namespace ringmaster
