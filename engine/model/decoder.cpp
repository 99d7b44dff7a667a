#include "engine/model/decoder.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "engine/model/gather.h"
#include "engine/model/ops.h"
#include "engine/plan/memory.h"

namespace ringmaster {

namespace {

constexpr int64_t kIgnoredLabel = -100;

at::Tensor positions_of(const Spans& spans, const AttentionMask& mask) {
    return at::tensor(positions_in_documents(spans, mask), at::kLong);
}

/// Adds up the gradient of the head's weight chunk by chunk. A bfloat16 gradient of many chunks is summed in
/// float32 first: a bfloat16 sum loses every part under 1/512 of it.
class ChunkedGradient {
  public:
    ChunkedGradient(const at::Tensor& gradient_vc, double beta, int64_t chunks)
        : gradient_vc_(gradient_vc), beta_(beta) {
        constexpr int64_t kMostRounded = 16;  // as engine/plan/memory_trace.cpp counts
        if (gradient_vc.defined() && gradient_vc.scalar_type() == at::kBFloat16 && chunks > kMostRounded)
            sum_vc_ = at::zeros(gradient_vc.sizes(), gradient_vc.options().dtype(at::kFloat));
    }

    void add(const at::Tensor& dlogits_kv, const at::Tensor& hidden_kc) {
        const bool summed = sum_vc_.defined();
        accumulate_weight_gradient(summed ? sum_vc_ : gradient_vc_, dlogits_kv, hidden_kc,
                                   summed ? 1 : beta_);
        if (!summed) beta_ = 1;
    }

    void finish() {
        if (!sum_vc_.defined()) return;
        constexpr int64_t kRows = 1024;  // on the CPU a sum of two dtypes widens all that it is given
        for (int64_t begin = 0; begin < sum_vc_.size(0); begin += kRows) {
            const int64_t count = std::min(kRows, sum_vc_.size(0) - begin);
            at::Tensor part = gradient_vc_.narrow(0, begin, count);
            if (beta_ == 0) part.zero_();
            part.add_(sum_vc_.narrow(0, begin, count));
        }
        sum_vc_.reset();
    }

  private:
    at::Tensor gradient_vc_, sum_vc_;
    double beta_;
};

}  // namespace

SequenceShard::SequenceShard(Groups& groups, const ModelConfig& model, const Layout& layout_,
                             const AttentionMask& mask, int64_t longest, int64_t gathered_heads,
                             at::Device device)
    : layout(layout_),
      places_t(own_places(groups, layout, device)),
      positions_t(
          positions_of(layout.ranks[static_cast<size_t>(groups.mesh().context_rank(groups.rank()))], mask)
              .to(device)),
      rope(make_rope_tables(model, positions_t, longest)),
      attention(groups, layout, mask, gathered_heads),
      progress(groups.progress()) {}

/// A run of tokens whose MLP is computed at once.
struct Decoder::MlpTile {
    at::Tensor mid_nc;
    int64_t first = 0;  // of its tokens
    at::Tensor rstd_n, gate_up_n2i;
};

struct Decoder::LayerState {
    int64_t rows = 0;  // B
    at::Tensor x_nc;   // the layer's input: all that gradient checkpointing keeps
    at::Tensor rstd_attention_n;
    at::Tensor qkv_nw;     // normed and rotated
    at::Tensor qk_raw_nw;  // before q/k norm; only with qk_norm
    at::Tensor rstd_qk_m;  // [N·(H + K)]
    AttentionOutput attention;
    at::Tensor mid_nc;  // after the attention's residual
    MlpTile mlp;        // where it is not tiled: all of it

    at::Tensor heads(int64_t first, int64_t count, int64_t head_dim) const {
        return heads_of(qkv_nw, first, count, head_dim);
    }

    at::Tensor heads_of(const at::Tensor& qkv, int64_t first, int64_t count, int64_t head_dim) const {
        return qkv.view({rows, qkv.size(0) / rows, qkv.size(1) / head_dim, head_dim}).narrow(2, first, count);
    }
};

Kept what_is_kept(const Plan& plan) {
    const Config& config = plan.config;
    Kept kept;
    kept.checkpointing = config.gradient_checkpointing;
    kept.attention = config.selective_checkpointing;
    kept.mlp_tile_tokens = mlp_tile_tokens(config, *plan.model, plan.batch.micro * plan.sequence.per_rank);
    kept.in_host = config.activation_offloading;
    return kept;
}

Decoder::Decoder(const ModelConfig& model, Parameters& parameters, Kept kept, Adapter* adapter,
                 QuantizedBase* quantized)
    : model_(model),
      parameters_(parameters),
      adapter_(adapter),
      quantized_(quantized),
      held_{&parameters},
      kept_(kept) {
    if (quantized_ != nullptr) held_.push_back(&quantized_->bytes());
    if (adapter_ != nullptr) held_.push_back(&adapter_->parameters());
}

at::Tensor Decoder::matrix(int layer, LoraSite site) const {
    if (quantized_ != nullptr) return quantized_->matrix(site);
    const LayerTensors& weights = parameters_.weights().layers[static_cast<size_t>(layer)];
    switch (site) {
        case LoraSite::Qkv:
            return weights.qkv_oc;
        case LoraSite::Output:
            return weights.output_oc;
        case LoraSite::GateUp:
            return weights.gate_up_oc;
        case LoraSite::Down:
            break;
    }
    return weights.down_oc;
}

void Decoder::hold_matrices() {
    if (quantized_ != nullptr) quantized_->hold();
}

void Decoder::release_matrices() {
    if (quantized_ != nullptr) quantized_->release();
}

at::Tensor Decoder::attention_forward(int layer, LayerState& state, SequenceShard& shard) {
    const LayerTensors& weights = parameters_.weights().layers[static_cast<size_t>(layer)];
    const int64_t H = model_.num_heads, K = model_.num_kv_heads, D = model_.head_dim;
    at::Tensor normed_nc =
        rms_norm(state.x_nc, weights.input_norm_w, model_.rms_norm_eps, state.rstd_attention_n);
    state.qkv_nw = linear(normed_nc, matrix(layer, LoraSite::Qkv), weights.qkv_bias_o);
    adapt(LoraSite::Qkv, normed_nc, state.qkv_nw);
    normed_nc.reset();
    if (model_.qk_norm != QkNorm::None) {
        state.qk_raw_nw = state.qkv_nw.narrow(1, 0, (H + K) * D).clone();
        at::Tensor raw_md = state.qk_raw_nw.view({-1, H + K, D});
        at::Tensor rstd_q, rstd_k;
        at::Tensor q =
            rms_norm(raw_md.narrow(1, 0, H).reshape({-1, D}), weights.q_norm_d, model_.rms_norm_eps, rstd_q);
        at::Tensor k =
            rms_norm(raw_md.narrow(1, H, K).reshape({-1, D}), weights.k_norm_d, model_.rms_norm_eps, rstd_k);
        state.qkv_nw.narrow(1, 0, H * D).copy_(q.view({-1, H * D}));
        state.qkv_nw.narrow(1, H * D, K * D).copy_(k.view({-1, K * D}));
        state.rstd_qk_m = at::cat({rstd_q, rstd_k});
    }
    rotate(state.qkv_nw, shard.rope.cos_td, shard.rope.sin_td, H + K, D, false);
    if (!state.attention.out_bthd.defined())
        state.attention =
            shard.attention.forward(state.heads(0, H, D), state.heads(H, K, D), state.heads(H + K, K, D));
    const at::Tensor heads_nw = state.attention.out_bthd.reshape({state.x_nc.size(0), H * D});
    at::Tensor out_nc = linear(heads_nw, matrix(layer, LoraSite::Output), weights.output_bias_o);
    adapt(LoraSite::Output, heads_nw, out_nc);
    return out_nc.add_(state.x_nc);
}

void Decoder::attention_backward(int layer, LayerState& state, at::Tensor& dx_nc, SequenceShard& shard,
                                 double beta) {
    const int64_t H = model_.num_heads, K = model_.num_kv_heads, D = model_.head_dim;
    const int64_t N = dx_nc.size(0);
    const LayerTensors& weights = parameters_.weights().layers[static_cast<size_t>(layer)];
    const LayerTensors& gradients = parameters_.weight_gradients().layers[static_cast<size_t>(layer)];

    at::Tensor heads_nw = state.attention.out_bthd.reshape({N, H * D});
    accumulate_weight_gradient(gradients.output_oc, dx_nc, heads_nw, beta);
    accumulate_bias_gradient(gradients.output_bias_o, dx_nc, beta);
    at::Tensor dout_bthd = product(dx_nc, matrix(layer, LoraSite::Output)).view({state.rows, -1, H, D});
    const AdapterBackward of_output(adapter_, LoraSite::Output, dx_nc);
    of_output.accumulate(heads_nw, beta);
    of_output.add_input_gradient(dout_bthd.view({N, H * D}));
    heads_nw.reset();
    AttentionGradients d = shard.attention.backward(dout_bthd, state.heads(0, H, D), state.heads(H, K, D),
                                                    state.heads(H + K, K, D), state.attention);
    dout_bthd.reset();
    state.attention = {};
    at::Tensor dqkv_nw = state.qkv_nw;  // its values are not needed any more
    state.heads_of(dqkv_nw, 0, H, D).copy_(d.dq_bthd);
    state.heads_of(dqkv_nw, H, K, D).copy_(d.dk_btkd);
    state.heads_of(dqkv_nw, H + K, K, D).copy_(d.dv_btkd);
    d = {};
    probe(layer, "gradient of q, k, v", dqkv_nw);
    rotate(dqkv_nw, shard.rope.cos_td, shard.rope.sin_td, H + K, D, true);
    if (model_.qk_norm != QkNorm::None) {
        at::Tensor dqk_md = dqkv_nw.view({N, -1, D});
        at::Tensor raw_md = state.qk_raw_nw.view({N, -1, D});
        auto through_norm = [&](int64_t first, int64_t heads, const at::Tensor& weight, at::Tensor gradient) {
            at::Tensor rstd = state.rstd_qk_m.narrow(0, N * first, N * heads);
            at::Tensor dy = dqk_md.narrow(1, first, heads).reshape({-1, D});
            at::Tensor raw = raw_md.narrow(1, first, heads).reshape({-1, D});
            at::Tensor draw = at::empty_like(dy);
            rms_norm_backward(dy, raw, weight, rstd, draw, false, std::move(gradient), beta);
            dqk_md.narrow(1, first, heads).copy_(draw.view({N, heads, D}));
        };
        through_norm(0, H, weights.q_norm_d, gradients.q_norm_d);
        through_norm(H, K, weights.k_norm_d, gradients.k_norm_d);
    }
    accumulate_bias_gradient(gradients.qkv_bias_o, dqkv_nw, beta);
    at::Tensor normed_nc = rms_norm_again(state.x_nc, weights.input_norm_w, state.rstd_attention_n);
    accumulate_weight_gradient(gradients.qkv_oc, dqkv_nw, normed_nc, beta);
    const AdapterBackward of_qkv(adapter_, LoraSite::Qkv, dqkv_nw);
    of_qkv.accumulate(normed_nc, beta);
    at::Tensor dnormed_nc = product_out(normed_nc, dqkv_nw, matrix(layer, LoraSite::Qkv));
    of_qkv.add_input_gradient(dnormed_nc);
    rms_norm_backward(dnormed_nc, state.x_nc, weights.input_norm_w, state.rstd_attention_n, dx_nc, true,
                      gradients.input_norm_w, beta);
}

std::vector<FlatRange> Decoder::mlp_tiles(int64_t tokens) const {
    const int64_t size = kept_.mlp_tile_tokens > 0 ? kept_.mlp_tile_tokens : tokens;
    std::vector<FlatRange> tiles;
    for (int64_t begin = 0; begin < tokens; begin += size) {
        tiles.push_back({begin, std::min(begin + size, tokens)});
    }
    return tiles;
}

Decoder::MlpTile Decoder::gate_up_forward(int layer, const at::Tensor& mid_nc, int64_t first) {
    const LayerTensors& weights = parameters_.weights().layers[static_cast<size_t>(layer)];
    MlpTile tile{mid_nc, first, {}, {}};
    at::Tensor normed_nc = rms_norm(mid_nc, weights.post_norm_w, model_.rms_norm_eps, tile.rstd_n);
    tile.gate_up_n2i = linear(normed_nc, matrix(layer, LoraSite::GateUp), weights.gate_up_bias_o);
    adapt(LoraSite::GateUp, normed_nc, tile.gate_up_n2i, first);
    return tile;
}

at::Tensor Decoder::mlp_forward(int layer, LayerState& state) {
    const LayerTensors& weights = parameters_.weights().layers[static_cast<size_t>(layer)];
    const auto through = [&](const MlpTile& tile) {
        const at::Tensor act_ni = gate(tile.gate_up_n2i);
        at::Tensor y_nc = linear(act_ni, matrix(layer, LoraSite::Down), weights.down_bias_o);
        adapt(LoraSite::Down, act_ni, y_nc, tile.first);
        return y_nc.add_(tile.mid_nc);
    };
    if (kept_.mlp_tile_tokens == 0) {
        state.mlp = gate_up_forward(layer, state.mid_nc);
        return through(state.mlp);
    }
    at::Tensor y_nc = at::empty_like(state.mid_nc);
    hold_matrices();
    for (const FlatRange& tile : mlp_tiles(y_nc.size(0))) {
        const at::Tensor mid_nc = state.mid_nc.narrow(0, tile.begin, tile.size());
        y_nc.narrow(0, tile.begin, tile.size()).copy_(through(gate_up_forward(layer, mid_nc, tile.begin)));
    }
    release_matrices();
    return y_nc;
}

/// dx_nc becomes the gradient of the tile's input.
void Decoder::mlp_tile_backward(int layer, MlpTile tile, at::Tensor dx_nc, double beta) {
    const LayerTensors& weights = parameters_.weights().layers[static_cast<size_t>(layer)];
    const LayerTensors& gradients = parameters_.weight_gradients().layers[static_cast<size_t>(layer)];

    accumulate_bias_gradient(gradients.down_bias_o, dx_nc, beta);
    at::Tensor dact_ni = product(dx_nc, matrix(layer, LoraSite::Down));
    const AdapterBackward of_down(adapter_, LoraSite::Down, dx_nc, tile.first);
    of_down.add_input_gradient(dact_ni);
    at::Tensor act_ni = gate_backward(tile.gate_up_n2i, dact_ni);
    dact_ni.reset();
    at::Tensor dgate_up_n2i = std::move(tile.gate_up_n2i);  // turned into its gradient in place
    accumulate_weight_gradient(gradients.down_oc, dx_nc, act_ni, beta);
    of_down.accumulate(act_ni, beta);
    act_ni.reset();
    accumulate_bias_gradient(gradients.gate_up_bias_o, dgate_up_n2i, beta);
    at::Tensor normed_nc = rms_norm_again(tile.mid_nc, weights.post_norm_w, tile.rstd_n);
    accumulate_weight_gradient(gradients.gate_up_oc, dgate_up_n2i, normed_nc, beta);
    const AdapterBackward of_gate_up(adapter_, LoraSite::GateUp, dgate_up_n2i, tile.first);
    of_gate_up.accumulate(normed_nc, beta);
    at::Tensor dnormed_nc = product_out(normed_nc, dgate_up_n2i, matrix(layer, LoraSite::GateUp));
    of_gate_up.add_input_gradient(dnormed_nc);
    rms_norm_backward(dnormed_nc, tile.mid_nc, weights.post_norm_w, tile.rstd_n, dx_nc, true,
                      gradients.post_norm_w, beta);
}

void Decoder::mlp_backward(int layer, LayerState& state, at::Tensor& dx_nc, double beta) {
    if (kept_.mlp_tile_tokens == 0) {
        if (!state.mlp.gate_up_n2i.defined()) state.mlp = gate_up_forward(layer, state.mid_nc);
        mlp_tile_backward(layer, std::move(state.mlp), dx_nc, beta);
        return;
    }
    hold_matrices();
    for (const FlatRange& tile : mlp_tiles(dx_nc.size(0))) {
        const auto rows = [&](const at::Tensor& x) { return x.narrow(0, tile.begin, tile.size()); };
        mlp_tile_backward(layer, gate_up_forward(layer, rows(state.mid_nc), tile.begin), rows(dx_nc), beta);
        beta = 1;
    }
    release_matrices();
}

at::Tensor Decoder::layer_forward(int layer, const at::Tensor& x_nc, LayerState& state,
                                  SequenceShard& shard) {
    shard.progress.enter_layer(Pass::Forward, layer);
    state.x_nc = x_nc;
    state.mid_nc = attention_forward(layer, state, shard);
    probe(layer, "attention output", state.mid_nc);
    at::Tensor y_nc = mlp_forward(layer, state);
    probe(layer, "layer output", y_nc);
    return y_nc;
}

void Decoder::layer_backward(int layer, LayerState& state, at::Tensor& dx_nc, SequenceShard& shard,
                             double beta) {
    shard.progress.enter_layer(Pass::Backward, layer);
    bring_back(layer, state);
    if (kept_.checkpointing) state.mid_nc = attention_forward(layer, state, shard);
    mlp_backward(layer, state, dx_nc, beta);
    state.mid_nc.reset();
    attention_backward(layer, state, dx_nc, shard, beta);
    probe(layer, "gradient", dx_nc);
}

double Decoder::head(const at::Tensor& x_nc, const at::Tensor& labels_n, double scale, double beta,
                     at::Tensor& dx_nc) {
    for (const int unit : parameters_.units_of_head()) {
        parameters_.use(unit);
        parameters_.open_gradients(unit);
    }
    const ModelTensors& weights = parameters_.weights();
    const ModelTensors& gradients = parameters_.weight_gradients();
    at::Tensor rstd_n;
    at::Tensor normed_nc = rms_norm(x_nc, weights.norm_w, model_.rms_norm_eps, rstd_n);
    at::Tensor valid_m = at::nonzero(labels_n.ne(kIgnoredLabel)).squeeze(1);
    const int64_t valid = valid_m.size(0);
    const bool all = valid == labels_n.size(0);
    at::Tensor hidden_mc = all ? normed_nc : normed_nc.index_select(0, valid_m);
    at::Tensor labels_m = all ? labels_n : labels_n.index_select(0, valid_m);
    if (valid == 0 && beta == 0 && gradients.head_vc.defined()) at::Tensor(gradients.head_vc).zero_();

    at::Tensor loss = at::zeros({}, x_nc.options().dtype(at::kDouble));  // read once: reading waits for the GPU
    at::Tensor logits_kv = at::empty({std::min(valid, kept_.loss_chunk_tokens), model_.vocab_size}, x_nc.options());
    const int64_t chunks = (valid + kept_.loss_chunk_tokens - 1) / kept_.loss_chunk_tokens;
    ChunkedGradient head_gradient(gradients.head_vc, beta, chunks);
    for (int64_t begin = 0; begin < valid; begin += kept_.loss_chunk_tokens) {
        const int64_t count = std::min(kept_.loss_chunk_tokens, valid - begin);
        at::Tensor chunk_kc = hidden_mc.narrow(0, begin, count);
        at::Tensor logits = logits_kv.narrow(0, 0, count);
        product_out(logits, chunk_kc, weights.head_vc.t());
        loss.add_(cross_entropy(logits, labels_m.narrow(0, begin, count), scale).sum(at::kDouble));
        head_gradient.add(logits, chunk_kc);
        product_out(chunk_kc, logits, weights.head_vc);  // the chunk's hidden states become their gradient
    }
    head_gradient.finish();
    at::Tensor dnormed_nc = hidden_mc;
    if (!all) {
        dnormed_nc = normed_nc.zero_();
        dnormed_nc.index_copy_(0, valid_m, hidden_mc);
    }
    dx_nc = at::empty_like(x_nc);
    rms_norm_backward(dnormed_nc, x_nc, weights.norm_w, rstd_n, dx_nc, false, gradients.norm_w, beta);
    for (const int unit : parameters_.units_of_head()) parameters_.drop(unit);
    return loss.item<double>();
}

at::Tensor Decoder::embed(const at::Tensor& ids_n) {
    parameters_.use(0);
    gather(parameters_.unit_of_layer(0));
    at::Tensor x_nc = parameters_.weights().embedding_vc.index_select(0, ids_n);
    parameters_.drop(0);
    return x_nc;
}

void Decoder::gather(int unit) {
    for (Parameters* held : held_) held->gather(unit);
}

void Decoder::drop(int unit) {
    for (Parameters* held : held_) held->drop(unit);
}

/// Brings the layer's weights here, and starts to bring those that come after it.
void Decoder::use_layer(int layer, Pass pass) {
    for (Parameters* held : held_) held->use(parameters_.unit_of_layer(layer));
    if (quantized_ != nullptr) quantized_->enter_layer(layer);
    if (adapter_ != nullptr) adapter_->enter_layer(layer);
    const int next = pass == Pass::Forward ? layer + 1 : layer - 1;
    if (next == static_cast<int>(model_.num_layers)) {
        for (const int unit : parameters_.units_of_head()) parameters_.gather(unit);
    } else if (next >= 0) {
        gather(parameters_.unit_of_layer(next));
    }
}

Decoder::LayerState Decoder::keep(int layer, LayerState state) {
    if (!kept_.checkpointing) return state;
    LayerState kept;
    kept.rows = state.rows;
    kept.x_nc = std::move(state.x_nc);
    if (kept_.attention) kept.attention = std::move(state.attention);
    if (!kept_.in_host || kept.x_nc.is_cpu()) return kept;
    if (!stash_) stash_.emplace(kept.x_nc.device(), static_cast<size_t>(model_.num_layers));
    stash_->put(static_cast<size_t>(layer), kept.x_nc);
    kept.x_nc.reset();
    return kept;
}

/// The layer's input, and on its way the one before it.
void Decoder::bring_back(int layer, LayerState& state) {
    if (state.x_nc.defined()) return;
    state.x_nc = stash_->take(static_cast<size_t>(layer));
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
    at::Tensor x_nc = embed(ids_n);
    probe(-1, "embedding", x_nc);
    for (int layer = 0; layer < layers; ++layer) {
        LayerState state;
        state.rows = batch.ids_bt.size(0);
        use_layer(layer, Pass::Forward);
        at::Tensor y_nc = layer_forward(layer, x_nc, state, shard);
        if (layer + 1 < layers) drop(parameters_.unit_of_layer(layer));
        states[static_cast<size_t>(layer)] = keep(layer, std::move(state));
        x_nc = std::move(y_nc);
    }
    shard.progress.leave_layers();
    at::Tensor dx_nc;
    double loss = head(x_nc, batch.labels_bt.reshape({-1}), scale, beta, dx_nc);
    x_nc.reset();
    probe(layers, "gradient", dx_nc);
    if (adapter_ == nullptr) on_gradients(parameters_.head_unit());
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
    if (adapter_ != nullptr) return loss;  // the embedding is frozen
    parameters_.open_gradients(0);
    at::Tensor embedding_gradient = parameters_.weight_gradients().embedding_vc;
    if (first && !model_.tie_word_embeddings) embedding_gradient.zero_();
    accumulate_embedding_gradient(embedding_gradient, ids_n, dx_nc);
    on_gradients(0);
    return loss;
}

at::Tensor Decoder::label_logprobs(const at::Tensor& normed_nc, const at::Tensor& labels_n) {
    at::Tensor logprobs_n = at::zeros(labels_n.sizes(), normed_nc.options().dtype(at::kFloat));
    at::Tensor valid_m = at::nonzero(labels_n.ne(kIgnoredLabel)).squeeze(1);
    for (int64_t begin = 0; begin < valid_m.size(0); begin += kept_.loss_chunk_tokens) {
        at::Tensor chunk_k = valid_m.narrow(0, begin, std::min(kept_.loss_chunk_tokens, valid_m.size(0) - begin));
        at::Tensor logits_kv = product(normed_nc.index_select(0, chunk_k), parameters_.weights().head_vc.t());
        logprobs_n.index_copy_(
            0, chunk_k, cross_entropy(logits_kv, labels_n.index_select(0, chunk_k), std::nullopt).neg_());
    }
    return logprobs_n;
}

Outputs Decoder::forward(const MicroBatch& batch, SequenceShard& shard, int64_t logits_from) {
    if (adapter_ != nullptr) adapter_->begin_tokens({});
    at::Tensor x_nc = embed(batch.ids_bt.reshape({-1}));
    for (int layer = 0; layer < static_cast<int>(model_.num_layers); ++layer) {
        LayerState state;
        state.rows = batch.ids_bt.size(0);
        use_layer(layer, Pass::Forward);
        x_nc = layer_forward(layer, x_nc, state, shard);
        drop(parameters_.unit_of_layer(layer));
    }
    shard.progress.leave_layers();
    for (const int unit : parameters_.units_of_head()) parameters_.use(unit);
    at::Tensor rstd_n;
    at::Tensor normed_nc = rms_norm(x_nc, parameters_.weights().norm_w, model_.rms_norm_eps, rstd_n);
    Outputs outputs;
    outputs.logprobs_bt =
        label_logprobs(normed_nc, batch.labels_bt.reshape({-1})).view(batch.labels_bt.sizes());
    outputs.loss_sum = -outputs.logprobs_bt.sum(at::kDouble).item<double>();
    const at::Tensor kept_k = at::nonzero(shard.places_t.ge(logits_from)).squeeze(1);
    if (kept_k.size(0) > 0) {
        at::Tensor normed_bkc =
            normed_nc.view({batch.ids_bt.size(0), -1, model_.hidden_size}).index_select(1, kept_k);
        outputs.logits_bkv = product(normed_bkc.flatten(0, 1), parameters_.weights().head_vc.t())
                                 .view({normed_bkc.size(0), kept_k.size(0), model_.vocab_size});
    }
    for (const int unit : parameters_.units_of_head()) parameters_.drop(unit);
    return outputs;
}

}  // namespace ringmaster
