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
#include <map>
#include <optional>
#include <vector>

#include "engine/attention/sharded_attention.h"
#include "engine/model/host_stash.h"
#include "engine/model/lora.h"
#include "engine/model/outlier_columns.h"
#include "engine/model/parameters.h"
#include "engine/model/rope.h"
#include "engine/plan/plan.h"

namespace ringmaster {

/// Everything that depends only on a sequence's length, documents and layout; made once and shared by all
/// batches that agree in these.
struct SequenceShard {
    /// `longest` is the highest position + 1, before the layout's padding. `mask` gives the documents; each
    /// layer adds its own window. `gathered_heads` is that of ShardedAttention.
    SequenceShard(Groups& groups, const ModelConfig& model, const Layout& layout, const AttentionMask& mask,
                  int64_t longest, int64_t gathered_heads, at::Device device);

    Layout layout;
    at::Tensor places_t;            ///< int64 [T], indices of this rank's tokens in the sequence
    at::Tensor positions_t;         ///< int64 [T], positions of this rank's tokens in their documents
    std::vector<RopeTables> ropes;  ///< in the order of ModelConfig::ropes
    std::map<int64_t, ShardedAttention> attentions;  ///< one per window of the layers; 0: no window
    Groups& ranks;                                   ///< groups that share the sequence
    Progress& progress;                              ///< reports what this rank is doing

    ShardedAttention& attention(const LayerKind& kind) { return attentions.at(kind.window.value_or(0)); }
    /// Rotates the first `heads` heads of every row by the angles of the layer's positions. Scales the first
    /// `queries` of these heads if the model scales queries.
    void rotate_heads(const LayerKind& kind, const at::Tensor& qkv_nw, int64_t queries, int64_t heads,
                      int64_t head_dim, bool backward) const;
    /// Sets each element to the largest of all ranks that share the sequence.
    void take_largest(at::Tensor values) const;
    int64_t cells() const;  ///< mask cells of all attentions
};

/// Returns the documents' mask with the layer's window. Leaves out a window as long as the longest document,
/// because it hides nothing.
AttentionMask mask_of(const LayerKind& kind, AttentionMask documents, int64_t longest);

/// This rank's share of one micro-batch.
struct MicroBatch {
    at::Tensor ids_bt;     ///< int64 [B, T]
    at::Tensor labels_bt;  ///< int64 [B, T], shifted: the next token; -100: none
    at::Tensor places_bt =
        {};  ///< int64 [B, T], indices in the data, −1 for padding: dropout and 8-bit inputs need them
};

/// The results of a forward, besides gradients.
struct Outputs {
    double loss_sum = 0;     ///< sum over this rank's valid labels
    at::Tensor logprobs_bt;  ///< float32 [B, T]: log p(label) of this rank's tokens, 0 without a label
    at::Tensor logits_bkv;   ///< [B, k, V]: this rank's tokens among the last ones, in order
};

/// Called with each layer's activations and gradients as they are computed; used to find where a value
/// stopped being finite.
using Probe = std::function<void(int layer, const char* what, const at::Tensor& tensor)>;

/// One forward product with quantised inputs, before an adapter's part is added.
struct Int8Product {
    int layer;
    LoraSite site;
    const at::Tensor &x_nc, &bias_o, &outliers_c, &counted_n, &y_no;
};
using ProductProbe = std::function<void(const Int8Product& product)>;

/// Chooses what the forward keeps of a layer and the backward computes again, without effect on the loss.
struct Kept {
    bool checkpointing = false;  ///< keeps only the layer's input (Chen et al. 2016)
    bool attention = false;      ///< with checkpointing: also keeps attention's output and log-sum-exp
    /// Tokens per tile of the MLP, 0 for whole MLPs. The backward computes each tile again, as in Arctic Long
    /// Sequence Training (arXiv 2506.13996, section 3.1.2).
    int64_t mlp_tile_tokens = 0;
    bool in_host = false;  ///< with checkpointing on a GPU: keeps layers' inputs in host memory
    /// Labelled tokens per chunk of head and loss. Preflight's short rows use smaller chunks.
    int64_t loss_chunk_tokens = 1024;
};

Kept what_is_kept(const Plan& plan);

class Decoder {
  public:
    /// With an adapter the parameters are frozen, and the gradients are the adapter's. `quantized` holds the
    /// layers' matrices if the parameters do not.
    Decoder(const ModelConfig& model, Parameters& parameters, Kept kept, Adapter* adapter = nullptr,
            QuantizedBase* quantized = nullptr);

    /// Runs forward and backward. Adds the gradients of scale · Σ cross-entropy over this rank's valid labels
    /// to the parameters' gradients (with `first`, replaces them). Calls `on_gradients` with each unit whose
    /// gradients are final. Returns the unscaled sum of this rank's losses.
    double forward_backward(const MicroBatch& batch, SequenceShard& shard, double scale, bool first,
                            const std::function<void(int)>& on_gradients);

    /// Runs a forward that keeps nothing for a backward. Returns logits of the tokens whose position in the
    /// sequence is `from` or later (engine/model/gather.h gathers them over ranks); of none by default.
    Outputs forward(const MicroBatch& batch, SequenceShard& shard,
                    int64_t logits_from = std::numeric_limits<int64_t>::max());

    void set_probe(Probe probe) { probe_ = std::move(probe); }
    /// Sets a callback for each forward product with quantised inputs.
    void set_product_probe(ProductProbe probe) { product_probe_ = std::move(probe); }

  private:
    struct BranchEnd;
    struct MlpTile;
    struct LayerState;  ///< data that a layer's backward needs

    /// Compute a norm of this model, and its backward. The norm writes rstd, its backward reads it.
    at::Tensor norm(const at::Tensor& x_nw, const at::Tensor& weight_w, at::Tensor& rstd_n) const;
    void norm_backward(const at::Tensor& dy_nw, const at::Tensor& x_nw, const at::Tensor& weight_w,
                       const at::Tensor& rstd_n, const at::Tensor& dx_nw, bool accumulate,
                       const at::Tensor& gradient_w, double beta) const;
    /// Returns the input of attention or MLP: normed, or x itself if the model has no norm there.
    at::Tensor branch_input(const at::Tensor& x_nc, const at::Tensor& weight_w, at::Tensor& rstd_n) const;
    at::Tensor branch_input_again(const at::Tensor& x_nc, const at::Tensor& weight_w,
                                  const at::Tensor& rstd_n) const;
    /// Adds to dx_nc the gradient through the matrix that read the branch's input; may reuse its memory.
    void branch_input_backward(at::Tensor read_nc, const at::Tensor& dy_no, const at::Tensor& weight_oc,
                               const AdapterBackward& adapter, const at::Tensor& x_nc,
                               const at::Tensor& norm_w, const at::Tensor& rstd_n, at::Tensor dx_nc,
                               const at::Tensor& gradient_w, double beta) const;
    /// Returns x_nc + a branch's output, normed and scaled if the model does so; reuses out_nc's memory.
    at::Tensor end_branch(at::Tensor out_nc, const at::Tensor& x_nc, const at::Tensor& norm_w,
                          BranchEnd& end) const;
    /// Returns the gradient of the branch's output; frees the tensors kept by its end.
    at::Tensor branch_gradient(const at::Tensor& dx_nc, BranchEnd& end, const at::Tensor& norm_w,
                               const at::Tensor& gradient_w, double beta) const;
    void norm_queries_and_keys(int layer, LayerState& state);
    void norm_queries_and_keys_backward(int layer, LayerState& state, const at::Tensor& dqkv_nw, double beta);

    at::Tensor embed(const at::Tensor& ids_n);
    // These handle the weights, including quantised ones, and the adapter's weights.
    void gather(int unit);
    void drop(int unit);
    /// Returns the weights of a site in the current layer, [outputs, inputs].
    at::Tensor matrix(int layer, LoraSite site) const;
    void hold_matrices();
    void release_matrices();
    bool quantizes_inputs() const { return quantized_ != nullptr && quantized_->quantizes_inputs(); }
    void begin_outliers(const MicroBatch& batch, const SequenceShard& shard);
    /// Returns x_nc times the site's matrix, plus bias_o.
    at::Tensor forward_product(int layer, LoraSite site, const at::Tensor& x_nc, const at::Tensor& bias_o);
    /// Finds the outliers of all tiles' inputs before any tile is computed.
    void find_mlp_outliers(int layer, const at::Tensor& mid_nc);
    void use_layer(int layer, Pass pass);
    void adapt(LoraSite site, const at::Tensor& x_nc, const at::Tensor& y_no, int64_t first = 0) const {
        if (adapter_ != nullptr) adapter_->add_forward(site, x_nc, y_no, first);
    }
    /// Computes attention from the layer's input; if its output was kept, does not compute it again.
    at::Tensor attention_forward(int layer, LayerState& state, SequenceShard& shard);
    at::Tensor layer_forward(int layer, const at::Tensor& x_nc, LayerState& state, SequenceShard& shard);
    std::vector<FlatRange> mlp_tiles(int64_t tokens) const;
    /// Computes gate and up of the tokens from `first` on.
    MlpTile gate_up_forward(int layer, const at::Tensor& mid_nc, int64_t first = 0);
    at::Tensor down_forward(int layer, const MlpTile& tile);
    at::Tensor mlp_forward(int layer, LayerState& state);
    void mlp_tile_backward(int layer, MlpTile tile, at::Tensor dx_nc, double beta);
    void mlp_backward(int layer, LayerState& state, at::Tensor& dx_nc, double beta);
    void attention_backward(int layer, LayerState& state, at::Tensor& dx_nc, SequenceShard& shard,
                            double beta);
    LayerState keep(int layer, LayerState state);
    void bring_back(int layer, LayerState& state);
    void layer_backward(int layer, LayerState& state, at::Tensor& dx_nc, SequenceShard& shard, double beta);
    /// Computes final norm, head and loss in chunks of tokens, with the gradient during the forward.
    double head(const at::Tensor& x_nc, const at::Tensor& labels_n, double scale, double beta,
                at::Tensor& dx_nc);
    /// Shapes logits in place for the loss. Returns the softcap's slopes; undefined without a softcap.
    at::Tensor shape_logits(at::Tensor logits_kv) const;
    /// Returns the log-probability of each valid label; 0 for tokens without a label.
    at::Tensor label_logprobs(const at::Tensor& normed_nc, const at::Tensor& labels_n);
    void probe(int layer, const char* what, const at::Tensor& tensor) const {
        if (probe_) probe_(layer, what, tensor);
    }

    const ModelConfig model_;
    const double norm_offset_;  ///< added to weights before norms multiply by them
    Parameters& parameters_;
    Adapter* adapter_;
    QuantizedBase* quantized_;
    std::vector<Parameters*> held_;  ///< all parameters in use
    const Kept kept_;
    std::optional<HostStash> stash_;  ///< layers' inputs
    OutlierColumns outliers_;         ///< of the current layer, if inputs are quantised
    Probe probe_;
    ProductProbe product_probe_;
};

}  // namespace ringmaster
