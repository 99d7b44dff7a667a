/// A Llama-family decoder over one rank's share of the tokens: forward, loss and backward by hand, so that
/// what is kept and when it is freed is in plain sight. The only communication inside is the attention's.
///
/// Letters: B rows, T this rank's tokens of a row, N = B·T, C hidden, H heads, K key/value heads, D head_dim,
/// I intermediate, V vocabulary.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <optional>
#include <vector>

#include "engine/attention/sharded_attention.h"
#include "engine/model/parameters.h"
#include "engine/model/rope.h"

namespace ringmaster {

/// What depends on the sequence's length and layout only, made once and used by every batch of that length.
struct SequenceShard {
    SequenceShard(Groups& groups, const ModelConfig& model, const Layout& layout, int64_t sequence_length,
                  at::Device device);

    Layout layout;
    at::Tensor positions_t;  ///< int64 [T], global positions of this rank's tokens
    RopeTables rope;
    ShardedAttention attention;
    Progress& progress;  ///< told where this rank is
};

/// This rank's share of one micro-batch.
struct MicroBatch {
    at::Tensor ids_bt;            ///< int64 [B, T]
    at::Tensor labels_bt;         ///< int64 [B, T], shifted: the token that follows; -100 = none
    int64_t sequence_length = 0;  ///< before the layout's padding
};

/// Told of every activation and gradient of a layer as it comes; used to find where a value stopped being
/// finite.
using Probe = std::function<void(int layer, const char* what, const at::Tensor& tensor)>;

class Decoder {
  public:
    Decoder(const ModelConfig& model, Parameters& parameters, bool gradient_checkpointing);

    /// Forward and backward. Gradients of scale · Σ cross-entropy over this rank's valid labels are added to
    /// (or, with `first`, written over) the parameters' gradients; `on_gradients` is called with each flat
    /// range once it is final. Returns the unscaled sum of this rank's losses.
    double forward_backward(const MicroBatch& batch, SequenceShard& shard, double scale, bool first,
                            const std::function<void(FlatRange)>& on_gradients);

    /// Sum of this rank's losses; nothing is kept.
    double forward_loss(const MicroBatch& batch, SequenceShard& shard);

    void set_probe(Probe probe) { probe_ = std::move(probe); }

  private:
    struct LayerState;  ///< what a layer's backward needs

    at::Tensor attention_forward(const LayerTensors& weights, const at::Tensor& x_nc, LayerState& state,
                                 SequenceShard& shard);
    void gate_up_forward(const LayerTensors& weights, LayerState& state);
    at::Tensor layer_forward(int layer, const at::Tensor& x_nc, LayerState& state, SequenceShard& shard);
    void mlp_backward(int layer, LayerState& state, at::Tensor& dx_nc, double beta);
    void attention_backward(int layer, LayerState& state, at::Tensor& dx_nc, SequenceShard& shard,
                            double beta);
    void layer_backward(int layer, LayerState& state, at::Tensor& dx_nc, SequenceShard& shard, double beta);
    /// Final norm, head and loss in chunks of tokens, with the gradient in the forward: dx_nc is set where
    /// scale is given.
    double head(const at::Tensor& x_nc, const at::Tensor& labels_n, std::optional<double> scale, double beta,
                at::Tensor& dx_nc);
    void probe(int layer, const char* what, const at::Tensor& tensor) const {
        if (probe_) probe_(layer, what, tensor);
    }

    const ModelConfig model_;
    Parameters& parameters_;
    const bool checkpointing_;
    Probe probe_;
};

}  // namespace ringmaster
