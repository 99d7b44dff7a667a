/// Runs a decoder of any family that ModelConfig describes over one rank's share of the tokens. Forward, loss
/// and backward are written by hand, so that the lifetime of every tensor is visible. Only attention
/// communicates between ranks.
///
/// Letters: B rows, T this rank's tokens of a row, N = B·T, C hidden, H heads, K key/value heads, D head_dim,
/// I intermediate, V vocabulary.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "engine/model/hidden_states.h"
#include "engine/model/host_stash.h"
#include "engine/model/tensor_machine.h"

namespace ringmaster {

template <class Machine>
class Layer;

/// Consecutive labels of a micro-batch, in its order, whose losses have the same weight.
struct LabelRun {
    int64_t labels = 0;
    double weight = 1;
};

/// Holds this rank's share of one micro-batch.
struct MicroBatch {
    at::Tensor ids_bt;     ///< int64 [B, T]
    at::Tensor labels_bt;  ///< int64 [B, T], the label of each token is the next token, or −100 for no label
    at::Tensor places_bt =
        {};  ///< int64 [B, T], indices in the data, −1 for padding; used by experts, dropout and 8-bit inputs
    /// Weights of all labels in a backward pass; if empty, every weight is 1.
    std::vector<LabelRun> runs = {};
    /// Changes the embeddings' output, [N, C], in passes that compute gradients; may be empty.
    std::function<void(const at::Tensor& x_nc, const at::Tensor& places_n)> add_noise = {};

    /// Returns ids, labels and places of some tokens of every row.
    MicroBatch part(const TokenRange& tokens) const;
};

/// Holds the results of a forward pass, besides gradients.
struct Outputs {
    double loss_sum = 0;     ///< sum over this rank's valid labels
    at::Tensor logprobs_bt;  ///< float32 [B, T]: log p(label) of this rank's tokens, 0 without a label
    at::Tensor logits_bkv;   ///< [B, k, V]: logits of this rank's tokens from logits_from on, in order
};

class Decoder {
  public:
    /// With an adapter the parameters are frozen, and the gradients are the adapter's. `quantized` holds the
    /// layers' matrices if the parameters do not.
    Decoder(const ModelConfig& model, Parameters& parameters, Kept kept, Adapter* adapter = nullptr,
            QuantizedBase* quantized = nullptr);
    Decoder(const Decoder&) = delete;  // the machine refers to members

    /// Runs forward and backward. Adds the gradients of scale · Σ cross-entropy over this rank's valid labels
    /// to the parameters' gradients (with `first`, replaces them). Calls `on_gradients` with each unit whose
    /// gradients are final. Returns the unscaled sum of this rank's losses.
    double forward_backward(const MicroBatch& batch, SequenceShard& shard, double scale, bool first,
                            const std::function<void(int)>& on_gradients);

    /// Runs a forward pass that keeps nothing for a backward pass. Returns logits of this rank's tokens whose
    /// position in the sequence is `logits_from` or later; by default there are none (engine/model/gather.h
    /// gathers them over ranks). `dropout` says whether an adapter applies its dropout as in training.
    Outputs forward(const MicroBatch& batch, SequenceShard& shard,
                    int64_t logits_from = std::numeric_limits<int64_t>::max(), bool dropout = false);

    /// Runs a pass over the cache's new tokens. Returns logits [rows, V] after the last new token of each row
    /// that has new tokens. If weights are sharded, all ranks must make the same number of passes.
    at::Tensor decode(const at::Tensor& ids_n, KeyValueCache& cache, RankProgress& progress);

    /// Runs only the layers, with the dropout of training, so that the router's loss can count which experts
    /// they choose.
    void count_experts(const MicroBatch& batch, SequenceShard& shard);
    /// Adds a router's loss to later calls of forward_backward, which call `settle` between forward and
    /// backward.
    void set_router_loss(RouterLoss* loss, std::function<void()> settle) {
        machine_.set_router_loss(loss);
        settle_router_loss_ = std::move(settle);
    }
    /// Sets a callback that chooses experts in place of the routers.
    void set_expert_chooser(LayerExpertChooser chooser) { machine_.set_expert_chooser(std::move(chooser)); }

    void set_probe(Probe probe) { machine_.set_probe(std::move(probe)); }
    /// Sets a callback for each forward product with quantised inputs.
    void set_product_probe(ProductProbe probe) { machine_.set_product_probe(std::move(probe)); }

  private:
    struct LayerState;   ///< tensors that a layer's backward needs
    class HeadGradient;  ///< gradient of the head, summed over chunks

    /// Begins a batch; with `drops`, the adapter applies its dropout as in training.
    void begin(const MicroBatch& batch, SequenceShard& shard, bool drops);
    size_t chunks() const { return shard_ != nullptr ? shard_->chunks.size() : 1; }
    MicroBatch chunk_of(const MicroBatch& batch, size_t chunk) const;
    /// Prepares the layer's operations for a chunk; `state` holds the keys of earlier chunks.
    void enter_chunk(int layer, size_t chunk, LayerState& state, OutlierColumns::Sites known = {});

    double embedding_multiplier(const at::Tensor& like) const;
    /// Returns the embeddings of each chunk's tokens, changed by `change`.
    HiddenStates embed(const std::vector<at::Tensor>& ids,
                       const std::function<void(size_t chunk, const at::Tensor& x_nc)>& change = {},
                       bool learns = false);
    std::vector<at::Tensor> ids_of(const MicroBatch& batch) const;  ///< token ids of each chunk
    HiddenStates hidden_states();
    LayerKeys layer_keys(bool copies);
    at::Tensor take_last(HiddenStates& hidden, size_t chunk) const;  ///< the last layer's output
    /// Both functions run the layers and keep nothing for a backward pass. The hidden states then hold the
    /// last layer's output.
    HiddenStates layers_forward(const MicroBatch& batch, SequenceShard& shard, bool drops);
    void through_layers(HiddenStates& hidden, RankProgress& progress);
    void gather(int unit);
    void drop(int unit);
    void use_layer(int layer, Pass pass);
    /// Replaces the layer's input by its output, chunk by chunk.
    void layer_forward(int layer, HiddenStates& hidden, LayerState& state, RankProgress& progress);
    /// Recomputes the keys and values of all chunks except the last.
    void recall_keys(int layer, LayerState& state);
    void layer_backward(int layer, LayerState& state, HiddenStates& gradients, RankProgress& progress,
                        double beta);
    /// Frees the tensors that the backward pass can recompute, and keeps the layer's input.
    void keep(int layer, size_t chunk, Layer<TensorMachine>& computed);
    void bring_back(int layer, size_t chunk, at::Tensor& x_nc);
    size_t stash_place(int layer, size_t chunk) const;
    bool stashes_all() const { return kept_.checkpointing && kept_.in_host && chunks() > 1; }
    /// Computes final norm, head and loss in chunks of tokens, and their gradients in the same pass. Leaves
    /// the gradients of the last layer's output in `gradients`.
    double head(HiddenStates& hidden, HiddenStates& gradients, const MicroBatch& batch, double scale,
                double beta);
    at::Tensor head_chunk(const at::Tensor& x_nc, const at::Tensor& labels_n, double scale, double beta,
                          HeadGradient& sums);
    void embedding_backward(HiddenStates& gradients, const MicroBatch& batch, bool first);
    /// Makes the layers' additional inputs (layer_inputs.h) from the embedding's output, if the model has
    /// such inputs.
    void make_layer_inputs(const at::Tensor& ids_n, const at::Tensor& x_nc, bool learns);
    void layer_inputs_backward(const at::Tensor& dx_nc, bool first);
    /// Frees the tensors that all layers of a pass share.
    void end_layers();
    /// Scales and softcaps logits in place. Returns the softcap's slopes; undefined without a softcap.
    at::Tensor shape_logits(at::Tensor logits_kv) const;
    at::Tensor logits_of(const at::Tensor& normed_kc);
    /// Returns the log-probability of each valid label; 0 for tokens without a label.
    at::Tensor label_logprobs(const at::Tensor& normed_nc, const at::Tensor& labels_n);

    const ModelConfig model_;
    Parameters& parameters_;
    Adapter* adapter_;
    QuantizedBase* quantized_;
    std::vector<Parameters*> held_;  ///< all parameters in use
    const Kept kept_;
    TensorMachine machine_;
    std::optional<LayerInputs> layer_inputs_;
    std::optional<HostStash> stash_;       ///< layers' inputs, or all hidden states of several chunks
    std::optional<HostStash> keys_stash_;  ///< one layer's keys and values, and sums of their gradients
    SequenceShard* shard_ = nullptr;       ///< null during decoding
    bool drops_ = false;
    std::function<void()> settle_router_loss_;
};

}  // namespace ringmaster
