// Lays out the heads of multi-head latent attention for kernels whose queries, keys and values are all as
// wide as head_dim: the rotated part of a head comes first, and zeros fill the rest.
#include <ATen/ATen.h>

#include "engine/model/tensor_machine.h"

namespace ringmaster {

namespace {

/// Returns heads [first, first + count) of rows of heads as wide as head_dim: [N, count, D].
at::Tensor padded_heads(const ModelConfig& m, const at::Tensor& qkv_nw, int64_t first, int64_t count) {
    return qkv_nw.view({qkv_nw.size(0), -1, m.head_dim}).narrow(1, first, count);
}

void clear_from(const at::Tensor& heads_nhd, int64_t width) {
    if (width < heads_nhd.size(2)) heads_nhd.narrow(2, width, heads_nhd.size(2) - width).zero_();
}

/// Writes padded keys and values, [N, H, D], given KeyValueUp's output and the rotated part of all heads'
/// keys.
void put_keys_values(const LatentSizes& sizes, const at::Tensor& kv_nhw, const at::Tensor& rotary_nr,
                     const at::Tensor& k_nhd, const at::Tensor& v_nhd) {
    const int64_t R = sizes.rotary_width, P = sizes.plain_width;
    k_nhd.narrow(2, 0, R).copy_(rotary_nr.unsqueeze(1).expand({k_nhd.size(0), k_nhd.size(1), R}));
    k_nhd.narrow(2, R, P).copy_(kv_nhw.narrow(2, 0, P));
    v_nhd.narrow(2, 0, sizes.value_width).copy_(kv_nhw.narrow(2, P, sizes.value_width));
    clear_from(k_nhd, R + P);
    clear_from(v_nhd, sizes.value_width);
}

/// Writes the gradient of KeyValueUp's output, given the gradients of padded keys and values: the backward of
/// put_keys_values.
void take_keys_values(const LatentSizes& sizes, const at::Tensor& dk_nhd, const at::Tensor& dv_nhd,
                      const at::Tensor& dkv_nhw) {
    const int64_t P = sizes.plain_width;
    dkv_nhw.narrow(2, 0, P).copy_(dk_nhd.narrow(2, sizes.rotary_width, P));
    dkv_nhw.narrow(2, P, sizes.value_width).copy_(dv_nhd.narrow(2, 0, sizes.value_width));
}

}  // namespace

at::Tensor TensorMachine::join_heads(const at::Tensor& q_nw, const at::Tensor& kv_nw,
                                     const at::Tensor& rotary_nr) const {
    const LatentSizes& sizes = model_.latent;
    const int64_t H = model_.num_heads, R = sizes.rotary_width, P = sizes.plain_width, N = q_nw.size(0);
    at::Tensor qkv_nw = at::empty({N, 3 * H * model_.head_dim}, q_nw.options());
    const at::Tensor q_nhd = padded_heads(model_, qkv_nw, 0, H), k_nhd = padded_heads(model_, qkv_nw, H, H),
                     v_nhd = padded_heads(model_, qkv_nw, 2 * H, H);
    const at::Tensor from_q = q_nw.view({N, H, P + R});
    q_nhd.narrow(2, 0, R).copy_(from_q.narrow(2, P, R));
    q_nhd.narrow(2, R, P).copy_(from_q.narrow(2, 0, P));
    clear_from(q_nhd, R + P);
    put_keys_values(sizes, kv_nw.view({N, H, -1}), rotary_nr, k_nhd, v_nhd);
    return qkv_nw;
}

TensorMachine::SplitHeads TensorMachine::split_heads(const at::Tensor& dqkv_nw) const {
    const LatentSizes& sizes = model_.latent;
    const int64_t H = model_.num_heads, R = sizes.rotary_width, P = sizes.plain_width, V = sizes.value_width,
                  N = dqkv_nw.size(0);
    const at::Tensor dq_nhd = padded_heads(model_, dqkv_nw, 0, H),
                     dk_nhd = padded_heads(model_, dqkv_nw, H, H),
                     dv_nhd = padded_heads(model_, dqkv_nw, 2 * H, H);
    const SplitHeads d{at::empty({N, H * (P + R)}, dqkv_nw.options()),
                       at::empty({N, H * (P + V)}, dqkv_nw.options()), dk_nhd.narrow(2, 0, R).sum(1)};
    const at::Tensor to_q = d.q_nw.view({N, H, P + R});
    to_q.narrow(2, P, R).copy_(dq_nhd.narrow(2, 0, R));
    to_q.narrow(2, 0, P).copy_(dq_nhd.narrow(2, R, P));
    take_keys_values(sizes, dk_nhd, dv_nhd, d.kv_nw.view({N, H, P + V}));
    return d;
}

/// Computes keys and values from other ranks' latents.
class TensorMachine::LatentSender final : public SentKeys {
  public:
    LatentSender(TensorMachine& machine, SentLatents& sent, double beta)
        : machine_(machine),
          sent_(sent),
          own_bt1w_(sent.sent_nw.view({machine.rows_, -1, 1, sent.sent_nw.size(1)})),
          beta_(beta) {}

    const at::Tensor& own() const override { return own_bt1w_; }

    KeysValues keys_values(const at::Tensor& sent_bs1w) override {
        const ModelConfig& m = machine_.model_;
        const int64_t B = sent_bs1w.size(0), S = sent_bs1w.size(1), H = m.num_heads,
                      R = m.latent.rotary_width;
        const at::Tensor kv_nw = machine_.linear(LoraSite::KeyValueUp, latents(sent_bs1w));
        const at::Tensor k_nhd = at::empty({B * S, H, m.head_dim}, sent_bs1w.options()),
                         v_nhd = at::empty_like(k_nhd);
        put_keys_values(m.latent, kv_nw.view({B * S, H, -1}),
                        sent_bs1w.narrow(3, m.latent.rank, R).reshape({B * S, R}), k_nhd, v_nhd);
        return {k_nhd.view({B, S, H, -1}), v_nhd.view({B, S, H, -1})};
    }

    at::Tensor gradient(const at::Tensor& sent_bs1w, const at::Tensor& dk_bksd,
                        const at::Tensor& dv_bksd) override {
        const LatentSizes& sizes = machine_.model_.latent;
        const int64_t B = sent_bs1w.size(0), S = sent_bs1w.size(1), H = dk_bksd.size(1);
        at::Tensor dkv_nw =
            at::empty({B * S, H * (sizes.plain_width + sizes.value_width)}, sent_bs1w.options());
        // Writes row by row, because the gradients' memory is ordered by tokens, not by rows.
        const at::Tensor dkv_bshw = dkv_nw.view({B, S, H, -1});
        for (int64_t b = 0; b < B; ++b)
            take_keys_values(sizes, dk_bksd[b].transpose(0, 1), dv_bksd[b].transpose(0, 1), dkv_bshw[b]);
        at::Tensor d_sb1w = at::empty({S, B, 1, sent_bs1w.size(3)}, sent_bs1w.options().dtype(at::kFloat));
        d_sb1w.narrow(3, sizes.rank, sizes.rotary_width)
            .copy_(dk_bksd.narrow(3, 0, sizes.rotary_width).sum({1}, true, at::kFloat).permute({2, 0, 1, 3}));
        const Pull pull = machine_.pull(LoraSite::KeyValueUp, std::move(dkv_nw));
        pull.accumulate(latents(sent_bs1w), sent_.accumulated ? 1 : beta_);
        sent_.accumulated = true;
        d_sb1w.narrow(3, 0, sizes.rank).copy_(pull.input().view({B, S, 1, -1}).transpose(0, 1));
        return d_sb1w;
    }

  private:
    at::Tensor latents(const at::Tensor& sent_bs1w) const {
        return sent_bs1w.narrow(3, 0, machine_.model_.latent.rank).reshape({-1, machine_.model_.latent.rank});
    }

    TensorMachine& machine_;
    SentLatents& sent_;
    at::Tensor own_bt1w_;
    double beta_;
};

bool TensorMachine::sends_latents() const {
    if (shard_ == nullptr || decodes()) return false;
    KeyTravel travel = shard_->key_travel;
    if (kept_.chunk_tokens > 0) travel.chunks = std::max<int64_t>(2, travel.chunks);
    // The weights' format decides, even in a pass that does not quantise inputs, so that the plan and
    // preflight's passes agree.
    travel.varies = (quantized_ != nullptr && products_vary(quantized_->quantization(), {})) ||
                    (adapter_ != nullptr && adapter_->drops());
    return sent_latent_width(model_, travel) > 0;
}

TensorMachine::SentLatents TensorMachine::sent_latents(const at::Tensor& latents_nr,
                                                       const at::Tensor& qkv_nw) const {
    const at::Tensor k_nhd = padded_heads(model_, qkv_nw, model_.num_heads, 1);
    return {at::cat({latents_nr, k_nhd.select(1, 0).narrow(1, 0, model_.latent.rotary_width)}, 1), {}, false};
}

std::unique_ptr<SentKeys> TensorMachine::latent_sender(SentLatents& sent, double beta) {
    if (!sent.sent_nw.defined()) return nullptr;
    return std::make_unique<LatentSender>(*this, sent, beta);
}

void TensorMachine::take_sent_gradients(const at::Tensor& vectors_bt1w, const at::Tensor& dqkv_nw,
                                        SentLatents& sent) const {
    const int64_t rank = model_.latent.rank, R = model_.latent.rotary_width;
    sent.dlatents_nr = vectors_bt1w.narrow(3, 0, rank).reshape({-1, rank});
    // Heads share the rotated part: its gradient is the sum of the heads' gradients.
    padded_heads(model_, dqkv_nw, model_.num_heads, 1)
        .select(1, 0)
        .narrow(1, 0, R)
        .add_(vectors_bt1w.narrow(3, rank, R).reshape({-1, R}));
}

at::Tensor TensorMachine::latents_like(const at::Tensor& rotary_nr) const {
    const LatentSizes& sizes = model_.latent;
    return at::empty({rotary_nr.size(0), sizes.query_rank + sizes.rank + sizes.rotary_width},
                     rotary_nr.options());
}

at::Tensor TensorMachine::without_padding(const at::Tensor& heads_nw) const {
    if (model_.value_width() == model_.head_dim) return heads_nw;
    return padded_heads(model_, heads_nw, 0, model_.num_heads)
        .narrow(2, 0, model_.value_width())
        .reshape({heads_nw.size(0), -1});
}

at::Tensor TensorMachine::with_padding(at::Tensor values_nw) const {
    const int64_t H = model_.num_heads, V = model_.value_width(), N = values_nw.size(0);
    if (V == model_.head_dim) return values_nw;
    at::Tensor heads_nw = at::empty({N, H * model_.head_dim}, values_nw.options());
    const at::Tensor heads_nhd = padded_heads(model_, heads_nw, 0, H);
    heads_nhd.narrow(2, 0, V).copy_(values_nw.view({N, H, V}));
    clear_from(heads_nhd, V);
    return heads_nw;
}

}  // namespace ringmaster
