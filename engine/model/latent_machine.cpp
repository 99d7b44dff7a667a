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

}  // namespace

at::Tensor TensorMachine::join_heads(const at::Tensor& q_nw, const at::Tensor& kv_nw,
                                     const at::Tensor& rotary_nr) const {
    const LatentSizes& sizes = model_.latent;
    const int64_t H = model_.num_heads, R = sizes.rotary_width, P = sizes.plain_width, N = q_nw.size(0);
    at::Tensor qkv_nw = at::empty({N, 3 * H * model_.head_dim}, q_nw.options());
    const at::Tensor q_nhd = padded_heads(model_, qkv_nw, 0, H), k_nhd = padded_heads(model_, qkv_nw, H, H),
                     v_nhd = padded_heads(model_, qkv_nw, 2 * H, H);
    const at::Tensor from_q = q_nw.view({N, H, P + R}), from_kv = kv_nw.view({N, H, -1});
    q_nhd.narrow(2, 0, R).copy_(from_q.narrow(2, P, R));
    q_nhd.narrow(2, R, P).copy_(from_q.narrow(2, 0, P));
    k_nhd.narrow(2, 0, R).copy_(rotary_nr.unsqueeze(1).expand({N, H, R}));
    k_nhd.narrow(2, R, P).copy_(from_kv.narrow(2, 0, P));
    v_nhd.narrow(2, 0, sizes.value_width).copy_(from_kv.narrow(2, P, sizes.value_width));
    clear_from(q_nhd, R + P);
    clear_from(k_nhd, R + P);
    clear_from(v_nhd, sizes.value_width);
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
    const at::Tensor to_q = d.q_nw.view({N, H, P + R}), to_kv = d.kv_nw.view({N, H, P + V});
    to_q.narrow(2, P, R).copy_(dq_nhd.narrow(2, 0, R));
    to_q.narrow(2, 0, P).copy_(dq_nhd.narrow(2, R, P));
    to_kv.narrow(2, 0, P).copy_(dk_nhd.narrow(2, R, P));
    to_kv.narrow(2, P, V).copy_(dv_nhd.narrow(2, 0, V));
    return d;
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
