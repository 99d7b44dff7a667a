#include "engine/model/decoder.h"

#include <ATen/ATen.h>

#include "engine/blocks/layer.h"
#include "engine/model/ops.h"
#include "engine/model/saved_modules.h"

namespace ringmaster {

struct Decoder::LayerState {
    struct Chunk {
        Layer<TensorMachine> computed;
        OutlierColumns::Sites outliers;
    };
    std::vector<Chunk> chunks;
    std::optional<LayerKeys> keys;  ///< set if there are several chunks
    bool keeps = false;             ///< keeps tensors for the backward pass
};

MicroBatch MicroBatch::part(const TokenRange& tokens) const {
    const auto of = [&](const at::Tensor& x_bt) {
        return x_bt.defined() ? x_bt.narrow(1, tokens.begin, tokens.size()) : x_bt;
    };
    return {of(ids_bt), of(labels_bt), of(places_bt)};
}

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
    if (model_.layer_input_width > 0) machine_.set_layer_inputs(&layer_inputs_.emplace(model_, parameters_));
}

void Decoder::make_layer_inputs(const at::Tensor& ids_n, const at::Tensor& x_nc, bool learns) {
    if (!layer_inputs_) return;
    Parameters& trained = adapter_ != nullptr ? adapter_->parameters() : parameters_;
    layer_inputs_->begin(ids_n, x_nc, learns && !trained.is_empty(0));
}

void Decoder::layer_inputs_backward(const at::Tensor& dx_nc, bool first) {
    if (!layer_inputs_) return;
    parameters_.use(0);
    layer_inputs_->backward(dx_nc, first ? 0 : 1);
    parameters_.drop(0);
}

void Decoder::end_layers() {
    machine_.forget_keys();
    if (layer_inputs_) layer_inputs_->clear();
}

double Decoder::embedding_multiplier(const at::Tensor& like) const {
    const double multiplier = model_.embedding_multiplier;
    return model_.rounds_embedding_multiplier ? rounded_to(like.scalar_type(), multiplier) : multiplier;
}

HiddenStates Decoder::embed(const std::vector<at::Tensor>& ids,
                            const std::function<void(size_t, const at::Tensor&)>& change, bool learns) {
    Parameters& holder = embedding_holder(parameters_, adapter_);
    HiddenStates hidden = hidden_states();
    const bool reads_both = layer_inputs_ && &holder != &parameters_;
    holder.use(0);
    if (reads_both) parameters_.use(0);
    gather(parameters_.unit_of_layer(0));
    for (size_t chunk = 0; chunk < ids.size(); ++chunk) {
        at::Tensor x_nc = holder.weights().embedding_vc.index_select(0, ids[chunk]);
        if (model_.embedding_multiplier != 1) scale_in_place(x_nc, embedding_multiplier(x_nc));
        if (change) change(chunk, x_nc);
        make_layer_inputs(ids[chunk], x_nc, learns);
        hidden.put(0, chunk, std::move(x_nc));
    }
    if (reads_both) parameters_.drop(0);
    holder.drop(0);
    return hidden;
}

std::vector<at::Tensor> Decoder::ids_of(const MicroBatch& batch) const {
    std::vector<at::Tensor> ids;
    for (size_t chunk = 0; chunk < chunks(); ++chunk)
        ids.push_back(chunk_of(batch, chunk).ids_bt.reshape({-1}));
    return ids;
}

void Decoder::gather(int unit) {
    for (Parameters* held : held_) held->gather(unit);
}

void Decoder::drop(int unit) {
    for (Parameters* held : held_) held->drop(unit);
}

/// Waits for the layer's weights, and starts to gather the weights of the next unit of the pass.
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

void Decoder::begin(const MicroBatch& batch, SequenceShard& shard, bool drops) {
    shard_ = &shard;
    drops_ = adapter_ != nullptr && adapter_->drops() && drops;
    if (adapter_ != nullptr)
        adapter_->begin_tokens(drops_ && chunks() == 1 ? batch.places_bt.reshape({-1}) : at::Tensor());
    machine_.begin_batch(shard, batch.ids_bt.size(0), batch.places_bt);
}

MicroBatch Decoder::chunk_of(const MicroBatch& batch, size_t chunk) const {
    return batch.part(shard_->chunks[chunk]);
}

void Decoder::enter_chunk(int layer, size_t chunk, LayerState& state, OutlierColumns::Sites known) {
    machine_.enter_layer(layer, std::move(known));
    if (!state.keys) return;
    machine_.enter_chunk(chunk, *state.keys);
    if (drops_) adapter_->begin_tokens(machine_.places());
}

HiddenStates Decoder::hidden_states() {
    const auto places =
        static_cast<size_t>(model_.num_layers) + 2;  // each layer's input, the head's input, gradients
    if (stashes_all() && !stash_) stash_.emplace(parameters_.device());
    return {chunks(), stashes_all() ? &*stash_ : nullptr, places};
}

LayerKeys Decoder::layer_keys(bool copies) {
    if (stashes_all() && !keys_stash_) keys_stash_.emplace(parameters_.device());
    return {chunks(), copies, stashes_all() ? &*keys_stash_ : nullptr};
}

size_t Decoder::stash_place(int layer, size_t chunk) const {
    return chunk * (static_cast<size_t>(model_.num_layers) + 2) + static_cast<size_t>(layer);
}

void Decoder::layer_forward(int layer, HiddenStates& hidden, LayerState& state, RankProgress& progress) {
    progress.enter_layer(Pass::Forward, layer);
    const auto place = static_cast<size_t>(layer);
    state.chunks.resize(hidden.chunks());
    if (hidden.chunks() > 1) state.keys.emplace(layer_keys(!state.keeps || kept_.checkpointing));
    for (size_t chunk = 0; chunk < hidden.chunks(); ++chunk) {
        enter_chunk(layer, chunk, state);
        const at::Tensor x_nc = hidden.take(place, chunk);
        hidden.fetch(place, chunk + 1);
        LayerState::Chunk& kept = state.chunks[chunk];
        kept.computed = Layer<TensorMachine>(model_, layer);
        at::Tensor y_nc = kept.computed.forward(machine_, x_nc);
        kept.outliers = machine_.outliers();
        if (state.keeps)
            keep(layer, chunk, kept.computed);
        else
            kept = {};
        hidden.put(place + 1, chunk, std::move(y_nc));
    }
    if (kept_.checkpointing) state.keys.reset();  // the backward pass recomputes the keys
}

/// Frees the tensors that the backward pass can recompute.
void Decoder::keep(int layer, size_t chunk, Layer<TensorMachine>& computed) {
    if (!kept_.checkpointing) return;
    computed.forget(machine_);
    at::Tensor& x_nc = computed.x_nc;
    if (!kept_.in_host) return;
    if (!stash_) stash_.emplace(x_nc.device());
    if (chunks() == 1) stash_->put(stash_place(layer, chunk), x_nc);
    x_nc.reset();
}

/// Brings back a layer's input for one chunk, and starts to bring back the previous chunk's input.
void Decoder::bring_back(int layer, size_t chunk, at::Tensor& x_nc) {
    if (x_nc.defined()) return;
    x_nc = stash_->take(stash_place(layer, chunk));
    if (chunk > 0)
        stash_->fetch(stash_place(layer, chunk - 1));
    else if (layer > 0)
        stash_->fetch(stash_place(layer - 1, 0));
}

void Decoder::recall_keys(int layer, LayerState& state) {
    if (state.chunks.size() == 1 || !kept_.checkpointing) return;
    state.keys.emplace(layer_keys(true));
    for (size_t chunk = 0; chunk + 1 < state.chunks.size(); ++chunk) {
        enter_chunk(layer, chunk, state);
        Layer<TensorMachine>& computed = state.chunks[chunk].computed;
        const at::Tensor x_nc =
            computed.x_nc.defined() ? computed.x_nc : stash_->take(stash_place(layer, chunk));
        if (stashes_all()) stash_->fetch(stash_place(layer, chunk + 1));
        computed.recall(machine_, x_nc);
    }
}

void Decoder::layer_backward(int layer, LayerState& state, HiddenStates& gradients, RankProgress& progress,
                             double beta) {
    progress.enter_layer(Pass::Backward, layer);
    const auto place = static_cast<size_t>(model_.num_layers) + 1;
    recall_keys(layer, state);
    for (size_t chunk = state.chunks.size(); chunk-- > 0; beta = 1) {
        LayerState::Chunk& kept = state.chunks[chunk];
        bring_back(layer, chunk, kept.computed.x_nc);
        const at::Tensor dx_nc = gradients.take(place, chunk);
        if (chunk > 0) gradients.fetch(place, chunk - 1);
        enter_chunk(layer, chunk, state, std::move(kept.outliers));
        kept.computed.backward(machine_, dx_nc, beta);
        machine_.probe("gradient", dx_nc);
        state.chunks.pop_back();
        gradients.put(place, chunk, dx_nc);
    }
}

double Decoder::forward_backward(const MicroBatch& batch, SequenceShard& shard, double scale, bool first,
                                 const std::function<void(int)>& on_gradients) {
    const double beta = first ? 0 : 1;
    const int layers = static_cast<int>(model_.num_layers);
    std::vector<LayerState> states(static_cast<size_t>(layers));
    Parameters& trained = adapter_ != nullptr ? adapter_->parameters() : parameters_;
    begin(batch, shard, true);
    const auto change = [&](size_t chunk, const at::Tensor& x_nc) {
        if (batch.add_noise) batch.add_noise(x_nc, chunk_of(batch, chunk).places_bt.reshape({-1}));
        machine_.probe_at(-1, "embedding", x_nc);
    };
    HiddenStates hidden = embed(ids_of(batch), change, true);
    HiddenStates gradients = hidden_states();
    for (int layer = 0; layer < layers; ++layer) {
        LayerState& state = states[static_cast<size_t>(layer)];
        use_layer(layer, Pass::Forward);
        state.keeps = true;
        layer_forward(layer, hidden, state, shard.progress);
        if (layer + 1 < layers) drop(parameters_.unit_of_layer(layer));
    }
    shard.progress.leave_layers();
    if (settle_router_loss_) settle_router_loss_();
    const double loss = head(hidden, gradients, batch, scale, beta);
    if (!trained.is_empty(parameters_.head_unit())) on_gradients(parameters_.head_unit());
    for (int layer = layers - 1; layer >= 0; --layer) {
        const int unit = parameters_.unit_of_layer(layer);
        use_layer(layer, Pass::Backward);
        trained.open_gradients(unit);
        layer_backward(layer, states[static_cast<size_t>(layer)], gradients, shard.progress, beta);
        states.pop_back();
        drop(unit);
        on_gradients(unit);
    }
    shard.progress.leave_layers();
    if (trained.is_empty(0)) {  // the embedding is frozen
        end_layers();
        return loss;
    }
    trained.open_gradients(0);
    embedding_backward(gradients, batch, first);
    on_gradients(0);
    return loss;
}

void Decoder::embedding_backward(HiddenStates& gradients, const MicroBatch& batch, bool first) {
    Parameters& trained = adapter_ != nullptr ? adapter_->parameters() : parameters_;
    at::Tensor embedding_gradient = trained.weight_gradients().embedding_vc;
    const bool holds_head_gradient = adapter_ == nullptr && model_.tie_word_embeddings;
    if (first && !holds_head_gradient) embedding_gradient.zero_();
    for (size_t chunk = 0; chunk < gradients.chunks(); ++chunk) {
        const at::Tensor ids_n = chunk_of(batch, chunk).ids_bt.reshape({-1});
        at::Tensor dx_nc = gradients.take(static_cast<size_t>(model_.num_layers) + 1, chunk);
        layer_inputs_backward(dx_nc, first);
        if (model_.padding_token) dx_nc.masked_fill_(ids_n.eq(*model_.padding_token).unsqueeze(1), 0);
        if (model_.embedding_multiplier != 1) scale_in_place(dx_nc, embedding_multiplier(dx_nc));
        accumulate_embedding_gradient(embedding_gradient, ids_n, dx_nc);
    }
}

HiddenStates Decoder::layers_forward(const MicroBatch& batch, SequenceShard& shard, bool drops) {
    begin(batch, shard, drops);
    HiddenStates hidden = embed(ids_of(batch));
    through_layers(hidden, shard.progress);
    return hidden;
}

void Decoder::through_layers(HiddenStates& hidden, RankProgress& progress) {
    for (int layer = 0; layer < static_cast<int>(model_.num_layers); ++layer) {
        LayerState state;
        use_layer(layer, Pass::Forward);
        layer_forward(layer, hidden, state, progress);
        drop(parameters_.unit_of_layer(layer));
    }
    progress.leave_layers();
    end_layers();
}

at::Tensor Decoder::decode(const at::Tensor& ids_n, KeyValueCache& cache, RankProgress& progress) {
    if (adapter_ != nullptr) adapter_->begin_tokens({});
    shard_ = nullptr;
    machine_.begin_decoding(cache);
    HiddenStates hidden = embed({ids_n});
    through_layers(hidden, progress);
    const at::Tensor x_nc = take_last(hidden, 0).index_select(0, cache.end());
    for (const auto& [held, unit] : units_of_head(parameters_, adapter_)) held->use(unit);
    at::Tensor stats;
    const at::Tensor logits_bv =
        logits_of(norm_of(model_, x_nc, parameters_.weights().norm_w, stats, model_.rms_norm_eps));
    for (const auto& [held, unit] : units_of_head(parameters_, adapter_)) held->drop(unit);
    return logits_bv;
}

void Decoder::count_experts(const MicroBatch& batch, SequenceShard& shard) {
    layers_forward(batch, shard, true);
    for (const auto& [held, unit] : units_of_head(parameters_, adapter_)) {
        held->use(unit);  // the last layer has started to gather this unit
        held->drop(unit);
    }
}

Outputs Decoder::forward(const MicroBatch& batch, SequenceShard& shard, int64_t logits_from, bool dropout) {
    HiddenStates hidden = layers_forward(batch, shard, dropout);
    for (const auto& [held, unit] : units_of_head(parameters_, adapter_)) held->use(unit);
    const int64_t rows = batch.ids_bt.size(0);
    std::vector<at::Tensor> logprobs, logits;
    for (size_t chunk = 0; chunk < hidden.chunks(); ++chunk) {
        const MicroBatch part = chunk_of(batch, chunk);
        at::Tensor rstd_n;
        const at::Tensor normed_nc = norm_of(model_, take_last(hidden, chunk), parameters_.weights().norm_w,
                                             rstd_n, model_.rms_norm_eps);
        logprobs.push_back(
            label_logprobs(normed_nc, part.labels_bt.reshape({-1})).view(part.labels_bt.sizes()));
        const TokenRange tokens = shard.chunks[chunk];
        const at::Tensor kept_k = at::nonzero(shard.places(tokens).ge(logits_from)).squeeze(1);
        if (kept_k.size(0) == 0) continue;
        const at::Tensor normed_bkc = normed_nc.view({rows, -1, model_.hidden_size}).index_select(1, kept_k);
        logits.push_back(
            logits_of(normed_bkc.flatten(0, 1)).view({rows, kept_k.size(0), model_.head_rows()}));
    }
    for (const auto& [held, unit] : units_of_head(parameters_, adapter_)) held->drop(unit);
    Outputs outputs;
    outputs.logprobs_bt = logprobs.size() == 1 ? logprobs[0] : at::cat(logprobs, 1);
    outputs.loss_sum = -outputs.logprobs_bt.sum(at::kDouble).item<double>();
    if (!logits.empty()) outputs.logits_bkv = logits.size() == 1 ? logits[0] : at::cat(logits, 1);
    return outputs;
}

at::Tensor Decoder::take_last(HiddenStates& hidden, size_t chunk) const {
    const auto place = static_cast<size_t>(model_.num_layers);
    at::Tensor x_nc = hidden.take(place, chunk);
    hidden.fetch(place, chunk + 1);
    return x_nc;
}

}  // namespace ringmaster
