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

#include "engine/model/host_stash.h"
#include "engine/model/tensor_machine.h"

namespace ringmaster {

/// Consecutive labels of a micro-batch, in its order, whose losses have the same weight.
struct LabelRun {
    int64_t labels = 0;
    double weight = 1;
};

/// Holds this rank's share of one micro-batch.
struct MicroBatch {
    at::Tensor ids_bt;     ///< int64 [B, T]
    at::Tensor labels_bt;  ///< int64 [B, T], shifted: the next token; -100: none
    at::Tensor places_bt =
        {};  ///< int64 [B, T], indices in the data, −1 for padding: for experts, dropout, 8-bit inputs
    std::vector<LabelRun> runs = {};  ///< of all labels, for a backward; empty: every weight is 1
    /// Changes the embeddings' output, [N, C], before a forward with a backward; may be empty.
    std::function<void(const at::Tensor& x_nc)> add_noise = {};
};

/// Holds the results of a forward, besides gradients.
struct Outputs {
    double loss_sum = 0;     ///< sum over this rank's valid labels
    at::Tensor logprobs_bt;  ///< float32 [B, T]: log p(label) of this rank's tokens, 0 without a label
    at::Tensor logits_bkv;   ///< [B, k, V]: this rank's tokens among the last ones, in order
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

    /// Runs a forward that keeps nothing for a backward. Returns logits of the tokens whose position in the
    /// sequence is `from` or later (engine/model/gather.h gathers them over ranks); of none by default.
    /// `dropout` says whether an adapter drops what it drops in training.
    Outputs forward(const MicroBatch& batch, SequenceShard& shard,
                    int64_t logits_from = std::numeric_limits<int64_t>::max(), bool dropout = false);

    /// Runs a pass over the cache's new tokens and returns the logits after the last one of each row that has
    /// some, [B, V]. If weights are sharded, all ranks must make the same number of passes.
    at::Tensor decode(const at::Tensor& ids_n, KeyValueCache& cache, Progress& progress);

    /// Runs the layers alone, with the dropout of training, so that the router's loss counts their choices.
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
    struct LayerState;  ///< what a layer's backward needs

    at::Tensor embed(const at::Tensor& ids_n);
    /// Run the layers and keep nothing; return the last one's output.
    at::Tensor layers_forward(const MicroBatch& batch, SequenceShard& shard);
    at::Tensor through_layers(at::Tensor x_nc, Progress& progress);
    void gather(int unit);
    void drop(int unit);
    void use_layer(int layer, Pass pass);
    at::Tensor layer_forward(int layer, const at::Tensor& x_nc, LayerState& state, Progress& progress);
    void layer_backward(int layer, LayerState& state, const at::Tensor& dx_nc, SequenceShard& shard,
                        double beta);
    void keep(int layer, LayerState& state);
    void bring_back(int layer, at::Tensor& x_nc);
    /// Computes final norm, head and loss in chunks of tokens, with the gradient during the forward.
    double head(const at::Tensor& x_nc, const MicroBatch& batch, double scale, double beta,
                at::Tensor& dx_nc);
    /// Shapes logits in place for the loss. Returns the softcap's slopes; undefined without a softcap.
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
    std::optional<HostStash> stash_;  ///< layers' inputs
    std::function<void()> settle_router_loss_;
};

}  // namespace ringmaster
