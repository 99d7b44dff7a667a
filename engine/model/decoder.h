/// A Llama-family decoder over one rank's share of the tokens: forward, loss and backward by hand, so that
/// what is kept and when it is freed is in plain sight. The only communication inside is the attention's.
///
/// Letters: B rows, T this rank's tokens of a row, N = B·T, C hidden, H heads, K key/value heads, D head_dim,
/// I intermediate, V vocabulary.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <limits>
#include <vector>

#include "engine/attention/sharded_attention.h"
#include "engine/model/parameters.h"
#include "engine/model/rope.h"

namespace ringmaster {

/// What depends on a sequence's length, documents and layout only, made once and used by every batch that has
/// the same.
struct SequenceShard {
    /// `longest` is how far positions go, before the layout's padding. `gathered_heads`: as
    /// ShardedAttention's.
    SequenceShard(Groups& groups, const ModelConfig& model, const Layout& layout, const AttentionMask& mask,
                  int64_t longest, int64_t gathered_heads, at::Device device);

    Layout layout;
    at::Tensor places_t;     ///< int64 [T], where this rank's tokens lie in the sequence
    at::Tensor positions_t;  ///< int64 [T], positions of this rank's tokens in their documents
    RopeTables rope;
    ShardedAttention attention;
    Progress& progress;  ///< told where this rank is
};

/// This rank's share of one micro-batch.
struct MicroBatch {
    at::Tensor ids_bt;     ///< int64 [B, T]
    at::Tensor labels_bt;  ///< int64 [B, T], shifted: the token that follows; -100 = none
};

/// What a forward gives to callers beside the loss.
struct Outputs {
    double loss_sum = 0;  ///< of this rank's valid labels
    at::Tensor
        logprobs_bt;        ///< float32 [B, T]: log p(label) of this rank's tokens, 0 where there is no label
    at::Tensor logits_bkv;  ///< [B, k, V]: of this rank's tokens among the last, in their order
};

/// Told of every activation and gradient of a layer as it comes; used to find where a value stopped being
/// finite.
using Probe = std::function<void(int layer, const char* what, const at::Tensor& tensor)>;

class Decoder {
  public:
    Decoder(const ModelConfig& model, Parameters& parameters, bool gradient_checkpointing);

    /// Forward and backward. Gradients of scale · Σ cross-entropy over this rank's valid labels are added to
    /// (or, with `first`, written over) the parameters' gradients; `on_gradients` is called with each unit
    /// once its gradients are final. Returns the unscaled sum of this rank's losses.
    double forward_backward(const MicroBatch& batch, SequenceShard& shard, double scale, bool first,
                            const std::function<void(int)>& on_gradients);

    /// Nothing is kept for a backward. Logits are given of the tokens whose position in the sequence is
    /// `from` or later (their gather over ranks: engine/model/gather.h); of none by default.
    Outputs forward(const MicroBatch& batch, SequenceShard& shard,
                    int64_t logits_from = std::numeric_limits<int64_t>::max());

    void set_probe(Probe probe) { probe_ = std::move(probe); }

  private:
    struct LayerState;  ///< what a layer's backward needs

    at::Tensor embed(const at::Tensor& ids_n);
    void use_layer(int layer, Pass pass);
    at::Tensor attention_forward(const LayerTensors& weights, const at::Tensor& x_nc, LayerState& state,
                                 SequenceShard& shard);
    void gate_up_forward(const LayerTensors& weights, LayerState& state);
    at::Tensor layer_forward(int layer, const at::Tensor& x_nc, LayerState& state, SequenceShard& shard);
    void mlp_backward(int layer, LayerState& state, at::Tensor& dx_nc, double beta);
    void attention_backward(int layer, LayerState& state, at::Tensor& dx_nc, SequenceShard& shard,
                            double beta);
    void layer_backward(int layer, LayerState& state, at::Tensor& dx_nc, SequenceShard& shard, double beta);
    /// Final norm, head and loss in chunks of tokens, with the gradient in the forward.
    double head(const at::Tensor& x_nc, const at::Tensor& labels_n, double scale, double beta,
                at::Tensor& dx_nc);
    /// Log-probability of each valid label; 0 where there is none.
    at::Tensor label_logprobs(const at::Tensor& normed_nc, const at::Tensor& labels_n);
    void probe(int layer, const char* what, const at::Tensor& tensor) const {
        if (probe_) probe_(layer, what, tensor);
    }

    const ModelConfig model_;
    Parameters& parameters_;
    const bool checkpointing_;
    Probe probe_;
};

}  // namespace ringmaster
