/// A decoder over one rank's share of the tokens, of any family that ModelConfig describes: forward, loss and
/// backward by hand, so that what is kept and when it is freed is in plain sight. The only communication
/// inside is the attention's.
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
#include "engine/model/parameters.h"
#include "engine/model/rope.h"
#include "engine/plan/plan.h"

namespace ringmaster {

/// What depends on a sequence's length, documents and layout only, made once and used by every batch that has
/// the same.
struct SequenceShard {
    /// `longest` is how far positions go, before the layout's padding. `mask` gives the documents; windows
    /// are the layers' own. `gathered_heads`: as ShardedAttention's.
    SequenceShard(Groups& groups, const ModelConfig& model, const Layout& layout, const AttentionMask& mask,
                  int64_t longest, int64_t gathered_heads, at::Device device);

    Layout layout;
    at::Tensor places_t;            ///< int64 [T], where this rank's tokens lie in the sequence
    at::Tensor positions_t;         ///< int64 [T], positions of this rank's tokens in their documents
    std::vector<RopeTables> ropes;  ///< in the order of ModelConfig::ropes
    std::map<int64_t, ShardedAttention> attentions;  ///< by the layers' windows; 0: none
    Progress& progress;                              ///< told where this rank is

    ShardedAttention& attention(const LayerKind& kind) { return attentions.at(kind.window.value_or(0)); }
    /// Turns the first `heads` heads of every row by the angles of the layer's positions, and scales the
    /// `queries` first of these if the model does.
    void rotate_heads(const LayerKind& kind, const at::Tensor& qkv_nw, int64_t queries, int64_t heads,
                      int64_t head_dim, bool backward) const;
    int64_t cells() const;  ///< of all attentions
};

/// Gives a layer its own window over the documents; one as long as the longest document hides nothing and is
/// left out.
AttentionMask mask_of(const LayerKind& kind, AttentionMask documents, int64_t longest);

/// This rank's share of one micro-batch.
struct MicroBatch {
    at::Tensor ids_bt;     ///< int64 [B, T]
    at::Tensor labels_bt;  ///< int64 [B, T], shifted: the token that follows; -100 = none
    at::Tensor places_bt =
        {};  ///< int64 [B, T], in the data: what an adapter's dropout depends on; else undefined
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

/// What the forward keeps of a layer for its backward, and what that computes again. None changes a loss.
struct Kept {
    bool checkpointing = false;  ///< the layer's input alone; the rest again (Chen et al. 2016)
    bool attention = false;      ///< with checkpointing: also attention's output and log-sum-exp
    /// The MLP forward and backward in tiles of so many tokens, each tile computed again in the backward, as
    /// in Arctic Long Sequence Training (arXiv 2506.13996, section 3.1.2); 0: whole.
    int64_t mlp_tile_tokens = 0;
    bool in_host = false;  ///< with checkpointing: on a GPU, layers' inputs wait in host memory
    /// Head and loss take so many tokens with a label at once. Preflight's short rows take fewer.
    int64_t loss_chunk_tokens = 1024;
};

Kept what_is_kept(const Plan& plan);

class Decoder {
  public:
    /// With an adapter the parameters are frozen, and the gradients are the adapter's. `quantized` holds the
    /// layers' matrices if the parameters do not.
    Decoder(const ModelConfig& model, Parameters& parameters, Kept kept, Adapter* adapter = nullptr,
            QuantizedBase* quantized = nullptr);

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
    struct BranchEnd;
    struct MlpTile;
    struct LayerState;  ///< what a layer's backward needs

    /// A norm of this model, and its backward; rstd is written and read.
    at::Tensor norm(const at::Tensor& x_nw, const at::Tensor& weight_w, at::Tensor& rstd_n) const;
    void norm_backward(const at::Tensor& dy_nw, const at::Tensor& x_nw, const at::Tensor& weight_w,
                       const at::Tensor& rstd_n, const at::Tensor& dx_nw, bool accumulate,
                       const at::Tensor& gradient_w, double beta) const;
    /// Gives attention and MLP their input: normed, or as it is.
    at::Tensor branch_input(const at::Tensor& x_nc, const at::Tensor& weight_w, at::Tensor& rstd_n) const;
    at::Tensor branch_input_again(const at::Tensor& x_nc, const at::Tensor& weight_w,
                                  const at::Tensor& rstd_n) const;
    /// dx_nc += what reaches it through the matrix that read the branch's input, whose memory it may take.
    void branch_input_backward(at::Tensor read_nc, const at::Tensor& dy_no, const at::Tensor& weight_oc,
                               const AdapterBackward& adapter, const at::Tensor& x_nc,
                               const at::Tensor& norm_w, const at::Tensor& rstd_n, at::Tensor dx_nc,
                               const at::Tensor& gradient_w, double beta) const;
    /// x_nc + a branch's output, normed and scaled if the model does; takes out_nc's memory.
    at::Tensor end_branch(at::Tensor out_nc, const at::Tensor& x_nc, const at::Tensor& norm_w,
                          BranchEnd& end) const;
    /// The gradient of the branch's output; frees what the end kept.
    at::Tensor branch_gradient(const at::Tensor& dx_nc, BranchEnd& end, const at::Tensor& norm_w,
                               const at::Tensor& gradient_w, double beta) const;
    void norm_queries_and_keys(int layer, LayerState& state);
    void norm_queries_and_keys_backward(int layer, LayerState& state, const at::Tensor& dqkv_nw, double beta);

    at::Tensor embed(const at::Tensor& ids_n);
    // Of the weights, quantised ones among them, and of the adapter's.
    void gather(int unit);
    void drop(int unit);
    /// The weights of a site in the layer that is computed, [outputs, inputs].
    at::Tensor matrix(int layer, LoraSite site) const;
    void hold_matrices();
    void release_matrices();
    void use_layer(int layer, Pass pass);
    void adapt(LoraSite site, const at::Tensor& x_nc, const at::Tensor& y_no, int64_t first = 0) const {
        if (adapter_ != nullptr) adapter_->add_forward(site, x_nc, y_no, first);
    }
    /// From the layer's input; the attention itself is not computed again where it was kept.
    at::Tensor attention_forward(int layer, LayerState& state, SequenceShard& shard);
    at::Tensor layer_forward(int layer, const at::Tensor& x_nc, LayerState& state, SequenceShard& shard);
    std::vector<FlatRange> mlp_tiles(int64_t tokens) const;
    /// Of the tokens from `first` on.
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
    /// Final norm, head and loss in chunks of tokens, with the gradient in the forward.
    double head(const at::Tensor& x_nc, const at::Tensor& labels_n, double scale, double beta,
                at::Tensor& dx_nc);
    /// Logits as the loss sees them, in place. Returns the softcap's slopes; undefined without one.
    at::Tensor shape_logits(at::Tensor logits_kv) const;
    /// Log-probability of each valid label; 0 where there is none.
    at::Tensor label_logprobs(const at::Tensor& normed_nc, const at::Tensor& labels_n);
    void probe(int layer, const char* what, const at::Tensor& tensor) const {
        if (probe_) probe_(layer, what, tensor);
    }

    const ModelConfig model_;
    const double norm_offset_;  ///< norms multiply by it + weight
    Parameters& parameters_;
    Adapter* adapter_;
    QuantizedBase* quantized_;
    std::vector<Parameters*> held_;  ///< all of them
    const Kept kept_;
    std::optional<HostStash> stash_;  ///< of layers' inputs
    Probe probe_;
};

}  // namespace ringmaster
