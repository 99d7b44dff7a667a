#include "engine/model/decoder.h"

#include <ATen/ATen.h>

#include "engine/blocks/layer.h"
#include "engine/model/ops.h"
#include "engine/model/saved_modules.h"

namespace ringmaster {

struct Decoder::LayerState {
    Layer<TensorMachine> computed;
    OutlierColumns::Sites outliers;
};

Decoder::Decoder(const ModelConfig& model, Parameters& parameters, Kept kept, Adapter* adapter,
                 QuantizedBase* quantized)
    : model_(model),
      parameters_(parameters),
      adapter_(adapter),
      quantized_(quantized),
      held_{&parameters},
      kept_(kept),
      machine_(model_, parameters, kept_, adapter, quantized) {
    if (quantized_ != nullptr) held_.push_back(&quantized_->bytes());
    if (adapter_ != nullptr) held_.push_back(&adapter_->parameters());
}

at::Tensor Decoder::embed(const at::Tensor& ids_n) {
    Parameters& holder = embedding_holder(parameters_, adapter_);
    holder.use(0);
    gather(parameters_.unit_of_layer(0));
    at::Tensor x_nc = holder.weights().embedding_vc.index_select(0, ids_n);
    if (model_.embedding_multiplier != 1) x_nc.mul_(model_.embedding_multiplier);
    holder.drop(0);
    return x_nc;
}

void Decoder::gather(int unit) {
    for (Parameters* held : held_) held->gather(unit);
}

void Decoder::drop(int unit) {
    for (Parameters* held : held_) held->drop(unit);
}

/// Waits for the layer's weights, and starts to gather those that follow.
void Decoder::use_layer(int layer, Pass pass) {
    for (Parameters* held : held_) held->use(parameters_.unit_of_layer(layer));
    if (quantized_ != nullptr) quantized_->enter_layer(layer);
    if (adapter_ != nullptr) adapter_->enter_layer(layer);
    const int next = pass == Pass::Forward ? layer + 1 : layer - 1;
    if (next == static_cast<int>(model_.num_layers)) {
        for (const auto& [held, unit] : units_of_head(parameters_, adapter_)) held->gather(unit);
    } else if (next >= 0) {
        gather(parameters_.unit_of_layer(next));
    }
}

at::Tensor Decoder::layer_forward(int layer, const at::Tensor& x_nc, LayerState& state, Progress& progress) {
    progress.enter_layer(Pass::Forward, layer);
    machine_.enter_layer(layer);
    state.computed = Layer<TensorMachine>(model_, layer);
    at::Tensor y_nc = state.computed.forward(machine_, x_nc);
    state.outliers = machine_.outliers();
    return y_nc;
}

void Decoder::layer_backward(int layer, LayerState& state, const at::Tensor& dx_nc, SequenceShard& shard,
                             double beta) {
    shard.progress.enter_layer(Pass::Backward, layer);
    bring_back(layer, state.computed.x_nc);
    machine_.enter_layer(layer, std::move(state.outliers));
    state.computed.backward(machine_, dx_nc, beta);
    machine_.probe("gradient", dx_nc);
}

/// Frees what the backward can compute again.
void Decoder::keep(int layer, LayerState& state) {
    if (!kept_.checkpointing) return;
    state.computed.forget(machine_);
    at::Tensor& x_nc = state.computed.x_nc;
    if (!kept_.in_host) return;
    if (!stash_) stash_.emplace(x_nc.device(), static_cast<size_t>(model_.num_layers));
    stash_->put(static_cast<size_t>(layer), x_nc);
    x_nc.reset();
}

/// Brings back the layer's input, and starts to bring back the previous layer's.
void Decoder::bring_back(int layer, at::Tensor& x_nc) {
    if (x_nc.defined()) return;
    x_nc = stash_->take(static_cast<size_t>(layer));
    if (layer > 0) stash_->fetch(static_cast<size_t>(layer) - 1);
}

double Decoder::forward_backward(const MicroBatch& batch, SequenceShard& shard, double scale, bool first,
                                 const std::function<void(int)>& on_gradients) {
    const double beta = first ? 0 : 1;
    const at::Tensor ids_n = batch.ids_bt.reshape({-1});
    const int layers = static_cast<int>(model_.num_layers);
    std::vector<LayerState> states(static_cast<size_t>(layers));
    Parameters& trained = adapter_ != nullptr ? adapter_->parameters() : parameters_;
    if (adapter_ != nullptr && adapter_->drops()) adapter_->begin_tokens(batch.places_bt.reshape({-1}));
    machine_.begin_batch(shard, batch.ids_bt.size(0), batch.places_bt);
    at::Tensor x_nc = embed(ids_n);
    if (batch.add_noise) batch.add_noise(x_nc);
    machine_.probe_at(-1, "embedding", x_nc);
    for (int layer = 0; layer < layers; ++layer) {
        LayerState& state = states[static_cast<size_t>(layer)];
        use_layer(layer, Pass::Forward);
        at::Tensor y_nc = layer_forward(layer, x_nc, state, shard.progress);
        if (layer + 1 < layers) drop(parameters_.unit_of_layer(layer));
        keep(layer, state);
        x_nc = std::move(y_nc);
    }
    shard.progress.leave_layers();
    if (settle_router_loss_) settle_router_loss_();
    at::Tensor dx_nc;
    double loss = head(x_nc, batch, scale, beta, dx_nc);
    x_nc.reset();
    machine_.probe_at(layers, "gradient", dx_nc);
    if (!trained.is_empty(parameters_.head_unit())) on_gradients(parameters_.head_unit());
    for (int layer = layers - 1; layer >= 0; --layer) {
        const int unit = parameters_.unit_of_layer(layer);
        use_layer(layer, Pass::Backward);
        trained.open_gradients(unit);
        layer_backward(layer, states[static_cast<size_t>(layer)], dx_nc, shard, beta);
        states.pop_back();
        drop(unit);
        on_gradients(unit);
    }
    shard.progress.leave_layers();
    if (trained.is_empty(0)) return loss;  // the embedding is frozen
    if (model_.padding_token) dx_nc.masked_fill_(ids_n.eq(*model_.padding_token).unsqueeze(1), 0);
    trained.open_gradients(0);
    at::Tensor embedding_gradient = trained.weight_gradients().embedding_vc;
    const bool holds_head_gradient = adapter_ == nullptr && model_.tie_word_embeddings;
    if (first && !holds_head_gradient) embedding_gradient.zero_();
    if (model_.embedding_multiplier != 1) dx_nc.mul_(model_.embedding_multiplier);
    accumulate_embedding_gradient(embedding_gradient, ids_n, dx_nc);
    on_gradients(0);
    return loss;
}

at::Tensor Decoder::layers_forward(const MicroBatch& batch, SequenceShard& shard) {
    machine_.begin_batch(shard, batch.ids_bt.size(0), batch.places_bt);
    return through_layers(embed(batch.ids_bt.reshape({-1})), shard.progress);
}

at::Tensor Decoder::through_layers(at::Tensor x_nc, Progress& progress) {
    for (int layer = 0; layer < static_cast<int>(model_.num_layers); ++layer) {
        LayerState state;
        use_layer(layer, Pass::Forward);
        x_nc = layer_forward(layer, x_nc, state, progress);
        drop(parameters_.unit_of_layer(layer));
    }
    progress.leave_layers();
    return x_nc;
}

at::Tensor Decoder::decode(const at::Tensor& ids_n, KeyValueCache& cache, Progress& progress) {
    if (adapter_ != nullptr) adapter_->begin_tokens({});
    machine_.begin_decoding(cache);
    const at::Tensor x_nc = through_layers(embed(ids_n), progress).index_select(0, cache.end());
    for (const auto& [held, unit] : units_of_head(parameters_, adapter_)) held->use(unit);
    at::Tensor stats;
    const at::Tensor logits_bv =
        logits_of(norm_of(model_, x_nc, parameters_.weights().norm_w, stats, model_.rms_norm_eps));
    for (const auto& [held, unit] : units_of_head(parameters_, adapter_)) held->drop(unit);
    return logits_bv;
}

void Decoder::count_experts(const MicroBatch& batch, SequenceShard& shard) {
    if (adapter_ != nullptr && adapter_->drops()) adapter_->begin_tokens(batch.places_bt.reshape({-1}));
    layers_forward(batch, shard);
    for (const auto& [held, unit] : units_of_head(parameters_, adapter_)) {
        held->use(unit);  // gathered by the last layer
        held->drop(unit);
    }
}

Outputs Decoder::forward(const MicroBatch& batch, SequenceShard& shard, int64_t logits_from, bool dropout) {
    const bool drops = dropout && adapter_ != nullptr && adapter_->drops();
    if (adapter_ != nullptr) adapter_->begin_tokens(drops ? batch.places_bt.reshape({-1}) : at::Tensor());
    const at::Tensor x_nc = layers_forward(batch, shard);
    for (const auto& [held, unit] : units_of_head(parameters_, adapter_)) held->use(unit);
    at::Tensor rstd_n;
    at::Tensor normed_nc = norm_of(model_, x_nc, parameters_.weights().norm_w, rstd_n, model_.rms_norm_eps);
    Outputs outputs;
    outputs.logprobs_bt =
        label_logprobs(normed_nc, batch.labels_bt.reshape({-1})).view(batch.labels_bt.sizes());
    outputs.loss_sum = -outputs.logprobs_bt.sum(at::kDouble).item<double>();
    const at::Tensor kept_k = at::nonzero(shard.places_t.ge(logits_from)).squeeze(1);
    if (kept_k.size(0) > 0) {
        at::Tensor normed_bkc =
            normed_nc.view({batch.ids_bt.size(0), -1, model_.hidden_size}).index_select(1, kept_k);
        outputs.logits_bkv = logits_of(normed_bkc.flatten(0, 1))
                                 .view({normed_bkc.size(0), kept_k.size(0), model_.head_rows()});
    }
    for (const auto& [held, unit] : units_of_head(parameters_, adapter_)) held->drop(unit);
    return outputs;
}

}  // namespace ringmaster
