/// Computes the operations of a layer's blocks (engine/blocks/block.h) on tensors, with the weights of the
/// current layer: the model's, quantised ones, and an adapter's.
#pragma once

#include <ATen/ops/cat.h>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "engine/blocks/block.h"
#include "engine/model/key_value_cache.h"
#include "engine/model/layer_inputs.h"
#include "engine/model/layer_keys.h"
#include "engine/model/lora.h"
#include "engine/model/norms.h"
#include "engine/model/ops.h"
#include "engine/model/outlier_columns.h"
#include "engine/model/router_loss.h"
#include "engine/model/sequence_shard.h"
#include "engine/model/shared_keys.h"
#include "engine/piece_sizes.h"
#include "engine/plan/plan.h"
#include "engine/recurrence/delta_layer.h"
#include "engine/recurrence/selective_scan.h"
#include "engine/recurrence/short_convolution.h"

namespace ringmaster {

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

/// Chooses which tensors of a layer the forward pass keeps and which the backward pass recomputes. The loss
/// does not depend on this choice.
struct Kept {
    bool checkpointing = false;  ///< keeps only the layer's input (Chen et al. 2016)
    bool attention = false;      ///< with checkpointing: also keeps attention's output and log-sum-exp
    /// Tokens per tile of the MLP; 0 computes all tokens at once. The backward pass recomputes each tile, as
    /// in Arctic Long Sequence Training (arXiv 2506.13996, section 3.1.2).
    int64_t mlp_tile_tokens = 0;
    bool in_host = false;  ///< with checkpointing on a GPU: keeps layers' inputs in host memory
    /// Labelled tokens per chunk of head and loss. Preflight's short rows use smaller chunks.
    int64_t loss_chunk_tokens = pieces::kLossTokens;
    /// Tokens of a row that are computed at a time; 0 for all. A layer computes all chunks of a sequence
    /// before the next layer starts. With in_host, host memory then also keeps all hidden states.
    int64_t chunk_tokens = 0;
};

Kept what_is_kept(const Plan& plan);

class TensorMachine {
  public:
    using Tensor = at::Tensor;
    using Attended = AttentionOutput;

    /// With an adapter the parameters are frozen. `quantized` holds the layers' matrices if the parameters do
    /// not. Both may be null.
    TensorMachine(const ModelConfig& model, const Parameters& parameters, const Kept& kept,
                  const Adapter* adapter, QuantizedBase* quantized);

    /// Begins a micro-batch of `rows` rows; `places_bt` is as in MicroBatch.
    void begin_batch(SequenceShard& shard, int64_t rows, const at::Tensor& places_bt);
    /// Begins a chunk of a shard that has several. `keys` holds the keys and values of the layer's earlier
    /// chunks.
    void enter_chunk(size_t chunk, LayerKeys& keys);
    /// Begins a pass over the cache's new tokens, without a backward pass.
    void begin_decoding(KeyValueCache& cache);
    const at::Tensor& places() const { return places_n_; }  ///< places of the chunk's tokens in the data
    bool decodes() const { return cache_ != nullptr; }
    /// Begins a layer, whose weights must be on this rank. `known` holds the layer's outlier columns if they
    /// have been found already.
    void enter_layer(int layer, OutlierColumns::Sites known = {});

    const ModelConfig& model() const { return model_; }
    bool keeps_attention() const { return kept_.attention; }
    at::Tensor empty_like(const at::Tensor& x) const;
    at::Tensor zeros_like(const at::Tensor& x) const { return empty_like(x).zero_(); }
    /// Multiplies x in place.
    at::Tensor scale(const at::Tensor& x, double factor) const { return scale_in_place(x, factor); }

    // Norms. `norm` writes the stats, which the other functions read. See engine/model/norms.h.
    at::Tensor norm(NormSite site, const at::Tensor& x_nw, at::Tensor& stats) const {
        return norm_of(model_, x_nw, weights_of(site, x_nw), stats, eps_of(site));
    }
    at::Tensor norm_again(NormSite site, const at::Tensor& x_nw, const at::Tensor& stats) const {
        return norm_again_of(model_, x_nw, weights_of(site, x_nw), stats, eps_of(site));
    }
    void norm_backward(NormSite site, const at::Tensor& dy_nw, const at::Tensor& x_nw,
                       const at::Tensor& stats, const at::Tensor& dx_nw, bool accumulate, double beta) const {
        norm_backward_of(model_, dy_nw, x_nw, weights_of(site, x_nw), stats, dx_nw, accumulate,
                         gradients().at(site), beta);
    }

    /// Returns x_nc times the site's matrix, plus bias and the adapter's part. x_nc holds the tokens from
    /// `first` on.
    at::Tensor linear(LoraSite site, const at::Tensor& x_nc, int64_t first = 0);
    /// The backward of `linear`, given dy_no.
    class Pull {
      public:
        Pull(const TensorMachine& machine, LoraSite site, at::Tensor dy_no, int64_t first)
            : machine_(machine),
              site_(site),
              dy_no_(std::move(dy_no)),
              adapter_(machine.adapter_, site, dy_no_, first, machine.frozen(site).weight_oc) {}
        /// Sets the gradients of matrix, bias and adapter to beta · gradient + new gradient.
        void accumulate(const at::Tensor& x_nc, double beta) const;
        /// These functions return the gradient of x_nc; input_into writes it into out_nc.
        at::Tensor input() const;
        at::Tensor input_into(const at::Tensor& out_nc) const;

      private:
        const TensorMachine& machine_;
        LoraSite site_;
        at::Tensor dy_no_;
        AdapterBackward adapter_;
    };
    Pull pull(LoraSite site, at::Tensor dy_no, int64_t first = 0) const {
        return {*this, site, std::move(dy_no), first};
    }
    /// From this call to release_matrices(), each matrix is dequantised only once.
    void hold_matrices() const;
    void release_matrices() const;
    /// Between these calls, gradients of bfloat16 weights are summed in float32 if more than
    /// kMostRoundedChunks tiles of x_nc add to them: a bfloat16 sum loses every part below 1/512 of the sum.
    /// At the end, the gradients become beta · gradient + sum.
    void begin_tile_sums(const at::Tensor& x_nc);
    void end_tile_sums(double beta);

    at::Tensor gate(const at::Tensor& gate_up_n2i) const {
        return ringmaster::gate(gate_up_n2i, model_.gate);
    }
    /// Replaces gate_up by its gradient. Returns f(gate) · up, computed again, in act_ni's memory, which may
    /// be dact_ni's.
    at::Tensor gate_backward(const at::Tensor& gate_up_n2i, const at::Tensor& dact_ni,
                             const at::Tensor& act_ni) const {
        return ringmaster::gate_backward(gate_up_n2i, dact_ni, model_.gate, act_ni);
    }

    /// Returns a copy with the column groups transposed from [outer, inner] to [inner, outer].
    at::Tensor swap_groups(const at::Tensor& x_nw, int64_t outer, int64_t inner) const {
        return x_nw.view({x_nw.size(0), outer, inner, -1}).transpose(1, 2).reshape(x_nw.sizes());
    }
    /// Rotates queries and keys in place.
    void rotate(const LayerKind& kind, const at::Tensor& qkv_nw, bool backward) const;
    /// Holds the latents that ranks send in place of keys and values; tensors are undefined if ranks send
    /// keys and values.
    struct SentLatents {
        at::Tensor sent_nw;      ///< [N, R + rotary width]: normalised latents, and the rotated part of keys
        at::Tensor dlatents_nr;  ///< the part of the latents' gradient that other ranks computed, float32
        bool accumulated = false;  ///< gradients of KeyValueUp have been set
    };
    bool sends_latents() const;
    SentLatents sent_latents(const at::Tensor& latents_nr, const at::Tensor& qkv_nw) const;
    Attended attend(const LayerKind& kind, const at::Tensor& qkv_nw, SentLatents sent);
    /// Keeps a chunk's keys and values for the chunks that follow.
    void put_keys(const LayerKind& kind, const at::Tensor& qkv_nw) const;
    /// Returns the gradients of queries, keys and values, in the memory of qkv_nw if it is defined, and puts
    /// the gradients of sent latents into `sent`. Sets the sinks' gradient to beta · gradient + new gradient.
    at::Tensor attend_backward(const LayerKind& kind, at::Tensor dheads_nw, at::Tensor qkv_nw,
                               Attended attended, SentLatents& sent, double beta);

    // The heads of multi-head latent attention; see engine/blocks/latent_heads.h.
    at::Tensor join_heads(const at::Tensor& q_nw, const at::Tensor& kv_nw, const at::Tensor& rotary_nr) const;
    struct SplitHeads {
        at::Tensor q_nw, kv_nw, rotary_nr;  ///< gradients
    };
    SplitHeads split_heads(const at::Tensor& dqkv_nw) const;
    at::Tensor latents_like(const at::Tensor& rotary_nr) const;
    /// Remove or add the zeros that make heads' outputs as wide as head_dim.
    at::Tensor without_padding(const at::Tensor& heads_nw) const;
    at::Tensor with_padding(at::Tensor values_nw) const;

    // These functions serve layers whose keys are also their values; see engine/model/shared_values.cpp.
    /// Returns queries, keys and values; qk_nw has no values.
    at::Tensor with_keys_as_values(const at::Tensor& qk_nw) const;
    /// Returns the gradients of queries and keys, given those of queries, keys and values.
    at::Tensor values_added_to_keys(const at::Tensor& dqkv_nw) const;
    // Keys and values that several layers read; see engine/model/shared_keys.h.
    // Keeps this layer's keys and values for the layers that reuse them, if there are any.
    void lend_keys(const at::Tensor& qkv_nw);
    /// Returns q_nw with the reused keys and values. While decoding, the cache holds the keys and values, and
    /// q_nw is returned unchanged.
    at::Tensor with_borrowed_keys(const LayerKind& kind, const at::Tensor& q_nw) const;
    /// Adds the gradients of reused keys and values to their layer's sum; returns those of the queries.
    at::Tensor return_keys(const LayerKind& kind, const at::Tensor& dqkv_nw);
    /// If other layers reused this layer's keys and values, adds the sum of their gradients to dqkv_nw.
    void take_keys_back(const at::Tensor& dqkv_nw);
    void forget_keys() { shared_keys_.clear(); }

    // The inputs of layers; see engine/blocks/layer_input.h. `inputs` outlives the machine.
    void set_layer_inputs(LayerInputs* inputs) { layer_inputs_ = inputs; }
    /// Returns the gate and the layer's input, [N, 2P].
    at::Tensor with_layer_input(const at::Tensor& gate_np) const {
        return at::cat({gate_np, layer_inputs_->of(layer_)}, 1);
    }
    void keep_input_gradient(const at::Tensor& gradient_np) const {
        layer_inputs_->put_gradient(layer_, gradient_np);
    }
    /// Multiplies x_nc by the layer's factor (Role::LayerScalar).
    void scale_layer(at::Tensor x_nc) const { x_nc.mul_(parameters_.layer_scalar(layer_)); }

    /// Removes the gates from qkv_nw (queries and gates, keys, values), and returns them: [N, H·D].
    at::Tensor take_gates(at::Tensor& qkv_nw) const;
    at::Tensor put_gates(const at::Tensor& qkv_nw, const at::Tensor& gates_nw) const;
    /// Returns heads · sigmoid(gates).
    at::Tensor gate_heads(const at::Tensor& heads_nw, const at::Tensor& gates_nw) const;
    /// Replaces dout_nw by the gradient of the heads, and gates_nw by that of the gates.
    void gate_heads_backward(const at::Tensor& dout_nw, const at::Tensor& heads_nw,
                             const at::Tensor& gates_nw) const;

    // The gated delta rule; see engine/recurrence/delta_layer.h.
    using Recurred = DeltaOutput;
    Recurred recur(const at::Tensor& projected_nw) const;
    at::Tensor gated(const at::Tensor& projected_nw, const Recurred& recurred) const;
    /// Replaces projected_nw by its gradient.
    void recur_backward(at::Tensor dgated_nw, const at::Tensor& projected_nw, Recurred recurred,
                        double beta) const;
    // A Mamba-1 state space; see engine/recurrence/selective_scan.h and engine/blocks/selective_scan.h.
    at::Tensor convolve_channels(const at::Tensor& projected_nw) const;
    /// Replaces the channels in projected_nw by their gradient.
    void convolve_channels_backward(at::Tensor dchannels_ne, const at::Tensor& projected_nw,
                                    double beta) const;
    struct Scanned {
        at::Tensor channels, steps, keys, queries;
    };
    Recurred scan(const Scanned& in) const;
    /// Returns the gradients of `in`; the gradient of the steps takes over the steps' memory. Replaces the
    /// gates in projected_nw by their gradient.
    Scanned scan_backward(at::Tensor dgated_ne, const at::Tensor& projected_nw, const Scanned& in,
                          Recurred recurred, double beta) const;
    /// Returns an uninitialised tensor for a token's steps, keys and queries before their norms.
    at::Tensor selected_like(const at::Tensor& steps_nr) const;
    // A short convolution; see engine/recurrence/short_convolution.h.
    at::Tensor convolve(const at::Tensor& projected_nw) const;
    /// Replaces projected_nw by its gradient.
    void convolve_backward(at::Tensor dconvolved_nc, const at::Tensor& projected_nw, double beta) const;

    // A mixture of experts; see engine/model/expert_ops.h.
    using Routing = ringmaster::Routing;
    /// Chooses experts for tokens from `first` on, or takes chosen_nk if it is defined.
    Routing route(const at::Tensor& x_nc, int64_t first, const at::Tensor& chosen_nk);
    // With expert parallelism, the rows of gate_up_m2i are the rows that this rank's experts received.
    at::Tensor experts_gate_up(const at::Tensor& x_nc, const Routing& routing) const;
    at::Tensor experts_output(const at::Tensor& gate_up_m2i, const Routing& routing) const;
    /// Replaces gate_up_m2i by its gradient. Returns the gradient of the rows' weights.
    at::Tensor experts_down_backward(at::Tensor dout_nc, const at::Tensor& gate_up_m2i,
                                     const Routing& routing, double beta) const;
    /// The backward of `route` and `experts_gate_up`.
    class ExpertPull {
      public:
        ExpertPull(const TensorMachine& machine, at::Tensor dgate_up_m2i, at::Tensor dlogits_ne,
                   at::Tensor dscales_e, const Routing& routing)
            : machine_(machine),
              dgate_up_m2i_(std::move(dgate_up_m2i)),
              dlogits_ne_(std::move(dlogits_ne)),
              dscales_e_(std::move(dscales_e)),
              routing_(routing) {}
        /// `read_nw` is the experts' input, `x_nc` the router's.
        void accumulate(const at::Tensor& x_nc, const at::Tensor& read_nw, double beta) const;
        /// Returns the gradient of the experts' input.
        at::Tensor experts_input() const;
        /// Adds the router's part to the gradient of x_nc, if the router reads x_nc.
        void add_router_input(const at::Tensor& dx_nc) const;
        /// Accumulates the gradients of a router whose input is not the experts' input. Returns the gradient
        /// of read_nc, the router's input.
        at::Tensor router_input(const at::Tensor& read_nc, int64_t first, double beta) const;

      private:
        const TensorMachine& machine_;
        at::Tensor dgate_up_m2i_, dlogits_ne_, dscales_e_;
        const Routing& routing_;
    };
    ExpertPull pull_experts(const at::Tensor& dgate_up_m2i, const at::Tensor& dweights_m,
                            const Routing& routing, int64_t first) const;
    // The expert that every token uses; see engine/blocks/shared_expert.h.
    /// Adds y · sigmoid(shares) to out_nc.
    void add_share(const at::Tensor& out_nc, const at::Tensor& y_nc, const at::Tensor& shares_n1) const;
    /// Replaces shares_n1 and gate_up_n2i by their gradients, given dact_ni, the gradient of f(gate) · up ·
    /// sigmoid(shares). Returns that product, which may reuse the memory of dact_ni.
    at::Tensor share_backward(const at::Tensor& shares_n1, const at::Tensor& dact_ni,
                              const at::Tensor& gate_up_n2i) const;
    /// Sets a callback that chooses experts in place of the router.
    void set_expert_chooser(LayerExpertChooser chooser) { expert_chooser_ = std::move(chooser); }
    /// Counts the routers' choices in `loss` and adds the loss's gradient; null for no such loss.
    void set_router_loss(RouterLoss* loss) { router_loss_ = loss; }

    bool is_tiled() const { return kept_.mlp_tile_tokens > 0; }
    std::vector<TokenRange> tiles(const at::Tensor& x_nc) const;

    // For products with quantized inputs: call `look` for every tile of a site's input, then `settle` to fix
    // the outlier columns.
    bool quantizes_inputs() const { return quantized_ != nullptr && quantized_->quantizes_inputs(); }
    void look(const at::Tensor& x_nc, int64_t first) { outliers_.look(x_nc, first); }
    void settle(LoraSite site, const at::Tensor& x_nc);
    const OutlierColumns::Sites& outliers() const { return outliers_.sites(); }

    void probe(const char* what, const at::Tensor& tensor) const { probe_at(layer_, what, tensor); }
    void probe_at(int layer, const char* what, const at::Tensor& tensor) const {
        if (probe_) probe_(layer, what, tensor);
    }
    void set_probe(Probe probe) { probe_ = std::move(probe); }
    void set_product_probe(ProductProbe probe) { product_probe_ = std::move(probe); }

  private:
    const LayerTensors& weights() const { return parameters_.weights().layers[static_cast<size_t>(layer_)]; }
    const LayerTensors& gradients() const {
        return tile_sums_ ? *tile_sums_ : parameters_.weight_gradients().layers[static_cast<size_t>(layer_)];
    }
    /// Returns a norm's weights; ones if the norm has no weights.
    at::Tensor weights_of(NormSite site, const at::Tensor& x_nw) const;
    double eps_of(NormSite site) const {
        const bool is_latent = site == NormSite::QueryLatent || site == NormSite::KeyValueLatent;
        return is_latent ? model_.latent.norm_eps : model_.rms_norm_eps;
    }
    at::Tensor matrix(LoraSite site) const;
    at::Tensor experts(Role role) const;  ///< matrices of ExpertGateUp or ExpertDown
    /// Returns the rows of x_nc that this rank's experts compute, sorted by expert.
    at::Tensor rows_for_experts(const at::Tensor& x_nc, const Routing& routing) const;
    ExpertAdapter expert_adapter(Role role) const;
    FrozenLinear frozen(LoraSite site) const;  ///< empty unless the adapter reads frozen matrices
    /// Returns the places of the tokens that x_nc holds from `first` on.
    at::Tensor places_of(int64_t first, const at::Tensor& x_nc) const;
    at::Tensor forward_product(LoraSite site, const at::Tensor& x_nc);
    DeltaLayer delta_layer() const {
        return {shard_->ranks, *shard_->stretches, model_.delta, weights().delta, model_.rms_norm_eps};
    }
    SelectiveScan selective_scan() const {
        return {shard_->ranks, *shard_->stretches, model_.delta, weights().delta};
    }
    ShortConvolution short_convolution() const {
        return {shard_->ranks, *shard_->stretches, weights().delta.convolution_c1j};
    }
    class LatentSender;
    /// Returns the object that computes keys and values from other ranks' latents; null if ranks send no
    /// latents.
    std::unique_ptr<SentKeys> latent_sender(SentLatents& sent, double beta);
    /// Puts the gradients of latents into `sent`, and adds those of the rotated part to a head's keys.
    void take_sent_gradients(const at::Tensor& vectors_bt1w, const at::Tensor& dqkv_nw,
                             SentLatents& sent) const;
    at::Tensor keys_values_of(const at::Tensor& qkv_nw) const;  ///< a view
    /// Returns `count` heads of queries, keys or values: [B, T, count, D].
    at::Tensor heads_of(const at::Tensor& qkv_nw, int64_t first, int64_t count) const;

    const ModelConfig& all_layers_;
    ModelConfig model_;  ///< has the sizes of the current layer
    const Parameters& parameters_;
    const Kept& kept_;
    const Adapter* adapter_;
    QuantizedBase* quantized_;
    std::optional<Group> expert_group_;  ///< ranks that divide the experts, with expert parallelism
    OutlierColumns outliers_;            ///< outliers of the current layer, if inputs are quantised
    SequenceShard* shard_ = nullptr;
    KeyValueCache* cache_ = nullptr;  ///< set while decoding, when there is no shard
    LayerKeys* keys_ = nullptr;       ///< set if the shard has several chunks
    SharedKeys shared_keys_;
    LayerInputs* layer_inputs_ = nullptr;  ///< null if layers have no inputs
    size_t chunk_ = 0;
    int64_t rows_ = 0;
    /// Places of the batch's and of the chunk's tokens; undefined if the batch has no places.
    at::Tensor places_bt_, places_n_;
    int layer_ = -1;
    std::optional<LayerTensors>
        tile_sums_;  ///< the layer's gradients; those of its MLP and experts are float32
    LayerExpertChooser expert_chooser_;
    RouterLoss* router_loss_ = nullptr;
    Probe probe_;
    ProductProbe product_probe_;
};

}  // namespace ringmaster
