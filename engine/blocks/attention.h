/// Computes a layer's attention: queries, keys and values from the layer's input, their norms, the rotary
/// embedding, attention over the mesh, the gate of its output, and the output matrix.
#pragma once

#include <utility>

#include "engine/blocks/block.h"
#include "engine/blocks/branch.h"
#include "engine/blocks/latent_heads.h"
#include "engine/families/model_config.h"

namespace ringmaster {

/// Applies the norm of queries, keys or values in place, to each head or to all heads together.
template <class Machine>
class HeadNorm {
    using Tensor = typename Machine::Tensor;

  public:
    explicit HeadNorm(NormSite site) : site_(site) {}

    void forward(Machine& machine, Tensor x_nw) {
        raw_nw_ = x_nw.clone();
        x_nw.copy_(machine.norm(site_, rows(machine, raw_nw_), rstd_m_).view_as(x_nw));
    }

    /// Replaces dx_nw, the gradient of the norm's output, by that of the norm's input.
    void backward(Machine& machine, Tensor dx_nw, double beta) const {
        const Tensor dy = rows(machine, dx_nw), draw = machine.empty_like(dy);
        machine.norm_backward(site_, dy, rows(machine, raw_nw_), rstd_m_, draw, false, beta);
        dx_nw.copy_(draw.view_as(dx_nw));
    }

  private:
    /// Returns x with one row for each vector that is normalised.
    static Tensor rows(const Machine& machine, const Tensor& x_nw) {
        const ModelConfig& model = machine.model();
        return model.qk_norm == QkNorm::PerHead ? x_nw.reshape({-1, model.head_dim}) : x_nw;
    }

    NormSite site_;
    Tensor raw_nw_, rstd_m_;
};

template <class Machine>
class Attention final : public Block<Machine> {
    using Tensor = typename Machine::Tensor;

  public:
    Attention(const LayerKind& kind, bool shares_norm, double multiplier) : kind_(kind) {
        branch_.shares_norm = shares_norm;
        branch_.multiplier = multiplier;
    }

    Tensor forward(Machine& machine, const Tensor& x_nc, const Tensor& residual_nc) override {
        restore(machine, x_nc);
        return branch_.end(machine, machine.linear(LoraSite::Output, gated_heads(machine)), residual_nc);
    }

    void forget(Machine& machine) override {
        typename Machine::Attended attended;
        if (machine.keeps_attention()) attended = std::move(attended_);
        *this = Attention(kind_, branch_.shares_norm, branch_.multiplier);
        attended_ = std::move(attended);
    }

    void recall(Machine& machine, const Tensor& x_nc) override {
        project(machine, x_nc);
        machine.put_keys(kind_, qkv_nw_);
        forget(machine);
    }

    void restore(Machine& machine, const Tensor& x_nc) override {
        project(machine, x_nc);
        if (!attended_.out_bthd.defined())
            attended_ = machine.attend(kind_, qkv_nw_, latents_.sent(machine, qkv_nw_));
        if (attended_.is_by_heads()) qkv_nw_.reset();
    }

    void backward(Machine& machine, const Tensor& dy_nc, Tensor dx_nc, double beta) override {
        const auto sent = attend_backward(machine, dy_nc, beta);
        const bool borrows = machine.model().borrows_keys;
        if (!borrows) machine.take_keys_back(qkv_nw_);
        // With latents, keys' and values' gradients are still partial here: other ranks send their parts as
        // gradients of the latents.
        machine.probe("gradient of q, k, v", sent.sent_nw.defined() ? queries(machine) : qkv_nw_);
        if (borrows) qkv_nw_ = machine.return_keys(kind_, qkv_nw_);
        const auto back = [&](HeadNorm<Machine>& norm, Tensor x_nw) { norm.backward(machine, x_nw, beta); };
        if (norms_values(machine)) value_norm_.backward(machine, values(machine), beta);
        norm_heads(machine, true, back);
        machine.rotate(kind_, qkv_nw_, true);
        norm_heads(machine, false, back);
        if (machine.model().gates_attention) qkv_nw_ = machine.put_gates(qkv_nw_, std::move(gates_nw_));
        if (machine.model().latent.on())
            return branch_.begin_backward(machine, latents_.pull(machine, std::move(qkv_nw_), beta, sent),
                                          dx_nc, beta);
        branch_.begin_backward(machine, machine.pull(LoraSite::Qkv, as_stored(machine)), dx_nc, beta);
    }

  private:
    Tensor queries_keys_values(Machine& machine, const Tensor& read_nc) {
        if (machine.model().latent.on()) return latents_.read(machine, read_nc);
        Tensor qkv_nw = by_kind(machine, machine.linear(LoraSite::Qkv, read_nc));
        return machine.model().values_are_keys ? machine.with_keys_as_values(qkv_nw) : qkv_nw;
    }

    Tensor queries(const Machine& machine) const {
        return qkv_nw_.narrow(1, 0, machine.model().num_heads * machine.model().head_dim);
    }

    static bool norms_values(const Machine& machine) {
        return machine.model().norms_values && !machine.model().borrows_keys;
    }

    Tensor values(const Machine& machine) const {
        const ModelConfig& model = machine.model();
        return qkv_nw_.narrow(1, (model.num_heads + model.num_kv_heads) * model.head_dim,
                              model.num_kv_heads * model.head_dim);
    }

    /// Sets qkv_nw_ to the normalised and rotated queries, keys and values, and sets gates_nw_.
    void project(Machine& machine, const Tensor& x_nc) {
        qkv_nw_ = queries_keys_values(machine, branch_.begin(machine, x_nc));
        if (machine.model().gates_attention) gates_nw_ = machine.take_gates(qkv_nw_);
        const auto apply = [&](HeadNorm<Machine>& norm, Tensor x_nw) { norm.forward(machine, x_nw); };
        norm_heads(machine, false, apply);
        machine.rotate(kind_, qkv_nw_, false);
        norm_heads(machine, true, apply);
        if (norms_values(machine)) value_norm_.forward(machine, values(machine));
        if (machine.model().borrows_keys)
            qkv_nw_ = machine.with_borrowed_keys(kind_, qkv_nw_);
        else
            machine.lend_keys(qkv_nw_);
    }

    /// Calls `act` with each norm of queries and keys and the norm's columns. Does nothing unless the model
    /// applies these norms after the rotary embedding (`after_rotary`) or before it (otherwise).
    template <class Act>
    void norm_heads(const Machine& machine, bool after_rotary, const Act& act) {
        const ModelConfig& model = machine.model();
        if (model.qk_norm == QkNorm::None || model.qk_norm_after_rotary != after_rotary) return;
        const int64_t q = model.num_heads * model.head_dim, k = model.num_kv_heads * model.head_dim;
        act(query_norm_, qkv_nw_.narrow(1, 0, q));
        if (!model.borrows_keys) act(key_norm_, qkv_nw_.narrow(1, q, k));
    }

    /// Orders the columns as all queries, all keys, all values, if the matrix holds them head by head.
    static Tensor by_kind(Machine& machine, Tensor qkv_nw) {
        if (!machine.model().qkv_by_heads) return qkv_nw;
        return machine.swap_groups(qkv_nw, machine.model().num_heads, 3);
    }

    /// Puts the gradient's columns in the order of the stored matrix and returns it.
    Tensor as_stored(Machine& machine) {
        if (machine.model().qkv_by_heads)
            qkv_nw_ = machine.swap_groups(qkv_nw_, 3, machine.model().num_heads);
        if (machine.model().values_are_keys) qkv_nw_ = machine.values_added_to_keys(qkv_nw_);
        return qkv_nw_;
    }

    Tensor joined_heads(const Machine& machine) const {
        return machine.without_padding(
            attended_.out_bthd.reshape({-1, machine.model().num_heads * machine.model().head_dim}));
    }

    Tensor gated_heads(const Machine& machine) const {
        const Tensor heads_nw = joined_heads(machine);
        return machine.model().gates_attention ? machine.gate_heads(heads_nw, gates_nw_) : heads_nw;
    }

    /// Sets qkv_nw_ to the gradients of queries, keys and values. Returns the gradients of the latents that
    /// were sent, if any.
    typename Machine::SentLatents attend_backward(Machine& machine, const Tensor& dy_nc, double beta) {
        Tensor dheads_nw;
        {
            const auto pull = machine.pull(LoraSite::Output, branch_.end_backward(machine, dy_nc, beta));
            pull.accumulate(gated_heads(machine), beta);
            dheads_nw = machine.with_padding(pull.input());
        }
        if (machine.model().gates_attention)
            machine.gate_heads_backward(dheads_nw, joined_heads(machine), gates_nw_);
        if (attended_.is_by_heads()) attended_.out_bthd.reset();
        auto sent = latents_.sent(machine, qkv_nw_);
        qkv_nw_ = machine.attend_backward(kind_, std::move(dheads_nw), std::move(qkv_nw_),
                                          std::move(attended_), sent, beta);
        return sent;
    }

    LayerKind kind_;
    Branch<Machine> branch_ = {NormSite::Input, NormSite::AttentionOutput};
    LatentHeads<Machine> latents_;
    HeadNorm<Machine> query_norm_{NormSite::Queries}, key_norm_{NormSite::Keys},
        value_norm_{NormSite::Values};
    /// Normalised and rotated queries, keys and values; undefined if only `attended_` holds them, by heads.
    Tensor qkv_nw_;
    Tensor gates_nw_;
    typename Machine::Attended attended_;
};

}  // namespace ringmaster
