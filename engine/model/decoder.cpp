#include "engine/model/decoder.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "engine/model/gather.h"
#include "engine/model/ops.h"
#include "engine/model/saved_modules.h"
#include "engine/plan/memory.h"

namespace ringmaster {

namespace {

at::Tensor positions_of(const Spans& spans, const AttentionMask& mask) {
    return at::tensor(positions_in_documents(spans, mask), at::kLong);
}

}  // namespace

AttentionMask mask_of(const LayerKind& kind, AttentionMask documents, int64_t longest) {
    const int64_t window = kind.window.value_or(0);
    documents.window = window < longest ? window : 0;
    return documents;
}

SequenceShard::SequenceShard(Groups& groups, const ModelConfig& model, const Layout& layout_,
                             const AttentionMask& mask, int64_t longest, int64_t gathered_heads,
                             at::Device device)
    : layout(layout_),
      places_t(own_places(groups, layout, device)),
      positions_t(
          positions_of(layout.ranks[static_cast<size_t>(groups.mesh().context_rank(groups.rank()))], mask)
              .to(device)),
      ranks(groups),
      progress(groups.progress()) {
    for (const RopeConfig& rope : model.ropes)
        ropes.push_back(make_rope_tables(model, rope, positions_t, longest));
    for (const LayerKind& kind : model.layer_kinds()) {
        attentions.try_emplace(kind.window.value_or(0), groups, layout, mask_of(kind, mask, longest),
                               gathered_heads, ScoreRule{model.attention_scale, model.score_softcap});
    }
}

void SequenceShard::rotate_heads(const LayerKind& kind, const at::Tensor& qkv_nw, int64_t queries,
                                 int64_t heads, int64_t head_dim, bool backward) const {
    if (kind.rope < 0) return;
    const RopeTables& rope = ropes[static_cast<size_t>(kind.rope)];
    rotate(qkv_nw, rope.cos_td, rope.sin_td, heads, head_dim, backward, rope.interleaved);
    const int64_t tokens = rope.query_scale_t.defined() ? rope.query_scale_t.size(0) : 0;
    if (tokens == 0) return;
    qkv_nw.narrow(1, 0, queries * head_dim).unflatten(0, {-1, tokens}).mul_(rope.query_scale_t.unsqueeze(1));
}

void SequenceShard::take_largest(at::Tensor values) const {
    ranks.ring().all_reduce(values, Reduce::Max).wait();
    ranks.ulysses().all_reduce(values, Reduce::Max).wait();
}

int64_t SequenceShard::cells() const {
    int64_t cells = 0;
    for (const auto& [window, attention] : attentions) cells += attention.cells();
    return cells;
}

/// Tensors that a branch with a normed output keeps for its backward.
struct Decoder::BranchEnd {
    at::Tensor raw_nc, rstd_n;
};

/// Consecutive tokens whose MLP is computed at once.
struct Decoder::MlpTile {
    at::Tensor mid_nc;
    int64_t first = 0;  // index of its first token
    at::Tensor rstd_n, gate_up_n2i;
    BranchEnd end = {};
};

struct Decoder::LayerState {
    int64_t rows = 0;  // B
    at::Tensor x_nc;   // the layer's input, the only tensor that gradient checkpointing keeps
    at::Tensor rstd_attention_n;
    at::Tensor qkv_nw;     // normed and rotated
    at::Tensor qk_raw_nw;  // before q/k norm; only with qk_norm
    at::Tensor rstd_qk_m;  // [N·(H + K)]
    AttentionOutput attention;
    BranchEnd attention_end;
    at::Tensor mid_nc;  // after attention's residual
    MlpTile mlp;        // without tiles: all tokens
    OutlierColumns::Sites outliers;

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
      norm_offset_(model.norm_adds_one ? 1 : 0),
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

// ------------------------------------------------------------------- products with quantised inputs

void Decoder::begin_outliers(const MicroBatch& batch, const SequenceShard& shard) {
    if (!quantizes_inputs()) return;
    outliers_.begin_tokens(batch.places_bt.defined() ? batch.places_bt.reshape({-1}) : at::Tensor(),
                           quantized_->outlier_threshold(),
                           [&shard](at::Tensor values) { shard.take_largest(values); });
}

at::Tensor Decoder::forward_product(int layer, LoraSite site, const at::Tensor& x_nc,
                                    const at::Tensor& bias_o) {
    if (!quantizes_inputs()) return linear(x_nc, matrix(layer, site), bias_o);
    if (!outliers_.knows(site)) {
        outliers_.look(x_nc);
        outliers_.settle(site, x_nc.size(1), x_nc.device());
    }
    const at::Tensor y_no = int8_linear(x_nc, quantized_->int8_matrices(site), bias_o, outliers_.of(site),
                                        quantized_->outlier_threshold());
    if (product_probe_)
        product_probe_({layer, site, x_nc, bias_o, outliers_.of(site), outliers_.counted(), y_no});
    return y_no;
}

void Decoder::find_mlp_outliers(int layer, const at::Tensor& mid_nc) {
    if (!quantizes_inputs()) return;
    const LayerTensors& weights = parameters_.weights().layers[static_cast<size_t>(layer)];
    const std::vector<FlatRange> tiles = mlp_tiles(mid_nc.size(0));
    const auto rows = [&](const FlatRange& tile) { return mid_nc.narrow(0, tile.begin, tile.size()); };
    for (const FlatRange& tile : tiles) {
        at::Tensor rstd_n;
        outliers_.look(branch_input(rows(tile), weights.post_norm_w, rstd_n), tile.begin);
    }
    outliers_.settle(LoraSite::GateUp, model_.hidden_size, mid_nc.device());
    for (const FlatRange& tile : tiles)
        outliers_.look(gate(gate_up_forward(layer, rows(tile), tile.begin).gate_up_n2i, model_.gate),
                       tile.begin);
    outliers_.settle(LoraSite::Down, model_.intermediate_size, mid_nc.device());
}

// ------------------------------------------------------------------------- norms and the ends of a branch

at::Tensor Decoder::norm(const at::Tensor& x_nw, const at::Tensor& weight_w, at::Tensor& rstd_n) const {
    return rms_norm(x_nw, weight_w, model_.rms_norm_eps, rstd_n, norm_offset_);
}

void Decoder::norm_backward(const at::Tensor& dy_nw, const at::Tensor& x_nw, const at::Tensor& weight_w,
                            const at::Tensor& rstd_n, const at::Tensor& dx_nw, bool accumulate,
                            const at::Tensor& gradient_w, double beta) const {
    rms_norm_backward(dy_nw, x_nw, weight_w, rstd_n, dx_nw, accumulate, gradient_w, beta, norm_offset_);
}

at::Tensor Decoder::branch_input(const at::Tensor& x_nc, const at::Tensor& weight_w,
                                 at::Tensor& rstd_n) const {
    return model_.norms_inputs ? norm(x_nc, weight_w, rstd_n) : x_nc;
}

at::Tensor Decoder::branch_input_again(const at::Tensor& x_nc, const at::Tensor& weight_w,
                                       const at::Tensor& rstd_n) const {
    return model_.norms_inputs ? rms_norm_again(x_nc, weight_w, rstd_n, norm_offset_) : x_nc;
}

void Decoder::branch_input_backward(at::Tensor read_nc, const at::Tensor& dy_no, const at::Tensor& weight_oc,
                                    const AdapterBackward& adapter, const at::Tensor& x_nc,
                                    const at::Tensor& norm_w, const at::Tensor& rstd_n, at::Tensor dx_nc,
                                    const at::Tensor& gradient_w, double beta) const {
    const at::Tensor d_nc =
        model_.norms_inputs ? product_out(read_nc, dy_no, weight_oc) : product(dy_no, weight_oc);
    adapter.add_input_gradient(d_nc);
    if (!model_.norms_inputs) {
        dx_nc.add_(d_nc);
        return;
    }
    norm_backward(d_nc, x_nc, norm_w, rstd_n, dx_nc, true, gradient_w, beta);
}

at::Tensor Decoder::end_branch(at::Tensor out_nc, const at::Tensor& x_nc, const at::Tensor& norm_w,
                               BranchEnd& end) const {
    if (model_.norms_outputs) {
        end.raw_nc = std::move(out_nc);
        out_nc = norm(end.raw_nc, norm_w, end.rstd_n);
    }
    if (model_.residual_multiplier != 1) out_nc.mul_(model_.residual_multiplier);
    return out_nc.add_(x_nc);
}

at::Tensor Decoder::branch_gradient(const at::Tensor& dx_nc, BranchEnd& end, const at::Tensor& norm_w,
                                    const at::Tensor& gradient_w, double beta) const {
    const double scale = model_.residual_multiplier;
    at::Tensor dout_nc = scale == 1 ? dx_nc : dx_nc * scale;
    if (!model_.norms_outputs) return dout_nc;
    at::Tensor draw_nc = at::empty_like(dx_nc);
    norm_backward(dout_nc, end.raw_nc, norm_w, end.rstd_n, draw_nc, false, gradient_w, beta);
    end = {};
    return draw_nc;
}

// ------------------------------------------------------------------------------------------- attention

namespace {

/// The columns of queries or keys, and their norm.
struct NormedHeads {
    int64_t first, heads;
    at::Tensor weight, gradient;

    /// Returns one row per norm.
    at::Tensor rows(const at::Tensor& x_nw, int64_t head_dim, bool per_head) const {
        const at::Tensor own = x_nw.narrow(1, first * head_dim, heads * head_dim);
        return per_head ? own.reshape({-1, head_dim}) : own;
    }
};

}  // namespace

void Decoder::norm_queries_and_keys(int layer, LayerState& state) {
    const LayerTensors& weights = parameters_.weights().layers[static_cast<size_t>(layer)];
    const int64_t H = model_.num_heads, K = model_.num_kv_heads, D = model_.head_dim;
    const bool per_head = model_.qk_norm == QkNorm::PerHead;
    state.qk_raw_nw = state.qkv_nw.narrow(1, 0, (H + K) * D).clone();
    std::vector<at::Tensor> rstds;
    for (const NormedHeads& of :
         {NormedHeads{0, H, weights.q_norm_d, {}}, NormedHeads{H, K, weights.k_norm_d, {}}}) {
        at::Tensor rstd;
        const at::Tensor y = norm(of.rows(state.qk_raw_nw, D, per_head), of.weight, rstd);
        state.qkv_nw.narrow(1, of.first * D, of.heads * D).copy_(y.view({-1, of.heads * D}));
        rstds.push_back(std::move(rstd));
    }
    state.rstd_qk_m = at::cat(rstds);
}

/// Replaces dqkv_nw by the gradient before the norms.
void Decoder::norm_queries_and_keys_backward(int layer, LayerState& state, const at::Tensor& dqkv_nw,
                                             double beta) {
    const LayerTensors& weights = parameters_.weights().layers[static_cast<size_t>(layer)];
    const LayerTensors& gradients = parameters_.weight_gradients().layers[static_cast<size_t>(layer)];
    const int64_t H = model_.num_heads, K = model_.num_kv_heads, D = model_.head_dim;
    const bool per_head = model_.qk_norm == QkNorm::PerHead;
    int64_t seen = 0;
    for (const NormedHeads& of : {NormedHeads{0, H, weights.q_norm_d, gradients.q_norm_d},
                                  NormedHeads{H, K, weights.k_norm_d, gradients.k_norm_d}}) {
        const at::Tensor dy = of.rows(dqkv_nw, D, per_head), raw = of.rows(state.qk_raw_nw, D, per_head);
        const at::Tensor rstd = state.rstd_qk_m.narrow(0, seen, raw.size(0));
        const at::Tensor draw = at::empty(dy.sizes(), dy.options());
        norm_backward(dy, raw, of.weight, rstd, draw, false, of.gradient, beta);
        dqkv_nw.narrow(1, of.first * D, of.heads * D).copy_(draw.view({-1, of.heads * D}));
        seen += raw.size(0);
    }
}

at::Tensor Decoder::attention_forward(int layer, LayerState& state, SequenceShard& shard) {
    const LayerTensors& weights = parameters_.weights().layers[static_cast<size_t>(layer)];
    const int64_t H = model_.num_heads, K = model_.num_kv_heads, D = model_.head_dim;
    const LayerKind kind = model_.layer_kind(layer);
    at::Tensor read_nc = branch_input(state.x_nc, weights.input_norm_w, state.rstd_attention_n);
    state.qkv_nw = forward_product(layer, LoraSite::Qkv, read_nc, weights.qkv_bias_o);
    adapt(LoraSite::Qkv, read_nc, state.qkv_nw);
    read_nc.reset();
    const bool norms = model_.qk_norm != QkNorm::None;
    if (norms && !model_.qk_norm_after_rotary) norm_queries_and_keys(layer, state);
    shard.rotate_heads(kind, state.qkv_nw, H, H + K, D, false);
    if (norms && model_.qk_norm_after_rotary) norm_queries_and_keys(layer, state);
    if (!state.attention.out_bthd.defined())
        state.attention = shard.attention(kind).forward(state.heads(0, H, D), state.heads(H, K, D),
                                                        state.heads(H + K, K, D));
    const at::Tensor heads_nw = state.attention.out_bthd.reshape({state.x_nc.size(0), H * D});
    at::Tensor out_nc = forward_product(layer, LoraSite::Output, heads_nw, weights.output_bias_o);
    adapt(LoraSite::Output, heads_nw, out_nc);
    return end_branch(std::move(out_nc), state.x_nc, weights.attention_output_norm_w, state.attention_end);
}

void Decoder::attention_backward(int layer, LayerState& state, at::Tensor& dx_nc, SequenceShard& shard,
                                 double beta) {
    const int64_t H = model_.num_heads, K = model_.num_kv_heads, D = model_.head_dim;
    const int64_t N = dx_nc.size(0);
    const LayerKind kind = model_.layer_kind(layer);
    const LayerTensors& weights = parameters_.weights().layers[static_cast<size_t>(layer)];
    const LayerTensors& gradients = parameters_.weight_gradients().layers[static_cast<size_t>(layer)];

    at::Tensor dout_nc = branch_gradient(dx_nc, state.attention_end, weights.attention_output_norm_w,
                                         gradients.attention_output_norm_w, beta);
    at::Tensor heads_nw = state.attention.out_bthd.reshape({N, H * D});
    accumulate_weight_gradient(gradients.output_oc, dout_nc, heads_nw, beta);
    accumulate_bias_gradient(gradients.output_bias_o, dout_nc, beta);
    at::Tensor dout_bthd = product(dout_nc, matrix(layer, LoraSite::Output)).view({state.rows, -1, H, D});
    {
        const AdapterBackward of_output(adapter_, LoraSite::Output, dout_nc);
        of_output.accumulate(heads_nw, beta);
        of_output.add_input_gradient(dout_bthd.view({N, H * D}));
    }
    dout_nc.reset();
    heads_nw.reset();
    AttentionGradients d = shard.attention(kind).backward(
        dout_bthd, state.heads(0, H, D), state.heads(H, K, D), state.heads(H + K, K, D), state.attention);
    dout_bthd.reset();
    state.attention = {};
    at::Tensor dqkv_nw = state.qkv_nw;  // its values are no longer needed
    state.heads_of(dqkv_nw, 0, H, D).copy_(d.dq_bthd);
    state.heads_of(dqkv_nw, H, K, D).copy_(d.dk_btkd);
    state.heads_of(dqkv_nw, H + K, K, D).copy_(d.dv_btkd);
    d = {};
    probe(layer, "gradient of q, k, v", dqkv_nw);
    const bool norms = model_.qk_norm != QkNorm::None;
    if (norms && model_.qk_norm_after_rotary) norm_queries_and_keys_backward(layer, state, dqkv_nw, beta);
    shard.rotate_heads(kind, dqkv_nw, H, H + K, D, true);
    if (norms && !model_.qk_norm_after_rotary) norm_queries_and_keys_backward(layer, state, dqkv_nw, beta);
    accumulate_bias_gradient(gradients.qkv_bias_o, dqkv_nw, beta);
    const at::Tensor read_nc = branch_input_again(state.x_nc, weights.input_norm_w, state.rstd_attention_n);
    accumulate_weight_gradient(gradients.qkv_oc, dqkv_nw, read_nc, beta);
    const AdapterBackward of_qkv(adapter_, LoraSite::Qkv, dqkv_nw);
    of_qkv.accumulate(read_nc, beta);
    branch_input_backward(read_nc, dqkv_nw, matrix(layer, LoraSite::Qkv), of_qkv, state.x_nc,
                          weights.input_norm_w, state.rstd_attention_n, dx_nc, gradients.input_norm_w, beta);
}

// ------------------------------------------------------------------------------------------------- MLP

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
    const at::Tensor read_nc = branch_input(mid_nc, weights.post_norm_w, tile.rstd_n);
    tile.gate_up_n2i = forward_product(layer, LoraSite::GateUp, read_nc, weights.gate_up_bias_o);
    adapt(LoraSite::GateUp, read_nc, tile.gate_up_n2i, first);
    return tile;
}

at::Tensor Decoder::down_forward(int layer, const MlpTile& tile) {
    const at::Tensor act_ni = gate(tile.gate_up_n2i, model_.gate);
    const at::Tensor bias_o = parameters_.weights().layers[static_cast<size_t>(layer)].down_bias_o;
    at::Tensor y_nc = forward_product(layer, LoraSite::Down, act_ni, bias_o);
    adapt(LoraSite::Down, act_ni, y_nc, tile.first);
    return y_nc;
}

at::Tensor Decoder::mlp_forward(int layer, LayerState& state) {
    const LayerTensors& weights = parameters_.weights().layers[static_cast<size_t>(layer)];
    const auto through = [&](MlpTile& tile) {
        return end_branch(down_forward(layer, tile), tile.mid_nc, weights.mlp_output_norm_w, tile.end);
    };
    if (kept_.mlp_tile_tokens == 0) {
        state.mlp = gate_up_forward(layer, state.mid_nc);
        return through(state.mlp);
    }
    find_mlp_outliers(layer, state.mid_nc);
    at::Tensor y_nc = at::empty_like(state.mid_nc);
    hold_matrices();
    for (const FlatRange& tile : mlp_tiles(y_nc.size(0))) {
        const at::Tensor mid_nc = state.mid_nc.narrow(0, tile.begin, tile.size());
        MlpTile computed = gate_up_forward(layer, mid_nc, tile.begin);
        y_nc.narrow(0, tile.begin, tile.size()).copy_(through(computed));
    }
    release_matrices();
    return y_nc;
}

/// Replaces dx_nc by the gradient of the tile's input.
void Decoder::mlp_tile_backward(int layer, MlpTile tile, at::Tensor dx_nc, double beta) {
    const LayerTensors& weights = parameters_.weights().layers[static_cast<size_t>(layer)];
    const LayerTensors& gradients = parameters_.weight_gradients().layers[static_cast<size_t>(layer)];

    if (model_.norms_outputs && !tile.end.raw_nc.defined()) {
        tile.end.raw_nc = down_forward(layer, tile);
        norm(tile.end.raw_nc, weights.mlp_output_norm_w, tile.end.rstd_n);
    }
    at::Tensor dout_nc =
        branch_gradient(dx_nc, tile.end, weights.mlp_output_norm_w, gradients.mlp_output_norm_w, beta);
    accumulate_bias_gradient(gradients.down_bias_o, dout_nc, beta);
    {
        at::Tensor dact_ni = product(dout_nc, matrix(layer, LoraSite::Down));
        const AdapterBackward of_down(adapter_, LoraSite::Down, dout_nc, tile.first);
        of_down.add_input_gradient(dact_ni);
        const at::Tensor act_ni = gate_backward(tile.gate_up_n2i, dact_ni, model_.gate);
        dact_ni.reset();
        accumulate_weight_gradient(gradients.down_oc, dout_nc, act_ni, beta);
        of_down.accumulate(act_ni, beta);
    }
    dout_nc.reset();
    const at::Tensor dgate_up_n2i = std::move(tile.gate_up_n2i);  // becomes its gradient, in place
    accumulate_bias_gradient(gradients.gate_up_bias_o, dgate_up_n2i, beta);
    const at::Tensor read_nc = branch_input_again(tile.mid_nc, weights.post_norm_w, tile.rstd_n);
    accumulate_weight_gradient(gradients.gate_up_oc, dgate_up_n2i, read_nc, beta);
    const AdapterBackward of_gate_up(adapter_, LoraSite::GateUp, dgate_up_n2i, tile.first);
    of_gate_up.accumulate(read_nc, beta);
    branch_input_backward(read_nc, dgate_up_n2i, matrix(layer, LoraSite::GateUp), of_gate_up, tile.mid_nc,
                          weights.post_norm_w, tile.rstd_n, dx_nc, gradients.post_norm_w, beta);
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
    outliers_.enter_layer();
    state.x_nc = x_nc;
    state.mid_nc = attention_forward(layer, state, shard);
    probe(layer, "attention output", state.mid_nc);
    at::Tensor y_nc = mlp_forward(layer, state);
    state.outliers = outliers_.sites();
    probe(layer, "layer output", y_nc);
    return y_nc;
}

void Decoder::layer_backward(int layer, LayerState& state, at::Tensor& dx_nc, SequenceShard& shard,
                             double beta) {
    shard.progress.enter_layer(Pass::Backward, layer);
    bring_back(layer, state);
    outliers_.enter_layer(state.outliers);
    if (kept_.checkpointing) state.mid_nc = attention_forward(layer, state, shard);
    mlp_backward(layer, state, dx_nc, beta);
    state.mid_nc.reset();
    attention_backward(layer, state, dx_nc, shard, beta);
    probe(layer, "gradient", dx_nc);
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

Decoder::LayerState Decoder::keep(int layer, LayerState state) {
    if (!kept_.checkpointing) return state;
    LayerState kept;
    kept.rows = state.rows;
    kept.x_nc = std::move(state.x_nc);
    if (kept_.attention) kept.attention = std::move(state.attention);
    kept.outliers = std::move(state.outliers);
    if (!kept_.in_host || kept.x_nc.is_cpu()) return kept;
    if (!stash_) stash_.emplace(kept.x_nc.device(), static_cast<size_t>(model_.num_layers));
    stash_->put(static_cast<size_t>(layer), kept.x_nc);
    kept.x_nc.reset();
    return kept;
}

/// Brings back the layer's input, and starts to bring back the previous layer's.
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
    begin_outliers(batch, shard);
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

Outputs Decoder::forward(const MicroBatch& batch, SequenceShard& shard, int64_t logits_from) {
    if (adapter_ != nullptr) adapter_->begin_tokens({});
    begin_outliers(batch, shard);
    at::Tensor x_nc = embed(batch.ids_bt.reshape({-1}));
    for (int layer = 0; layer < static_cast<int>(model_.num_layers); ++layer) {
        LayerState state;
        state.rows = batch.ids_bt.size(0);
        use_layer(layer, Pass::Forward);
        x_nc = layer_forward(layer, x_nc, state, shard);
        drop(parameters_.unit_of_layer(layer));
    }
    shard.progress.leave_layers();
    for (const auto& [held, unit] : units_of_head(parameters_, adapter_)) held->use(unit);
    at::Tensor rstd_n;
    at::Tensor normed_nc = norm(x_nc, parameters_.weights().norm_w, rstd_n);
    Outputs outputs;
    outputs.logprobs_bt =
        label_logprobs(normed_nc, batch.labels_bt.reshape({-1})).view(batch.labels_bt.sizes());
    outputs.loss_sum = -outputs.logprobs_bt.sum(at::kDouble).item<double>();
    const at::Tensor kept_k = at::nonzero(shard.places_t.ge(logits_from)).squeeze(1);
    if (kept_k.size(0) > 0) {
        at::Tensor normed_bkc =
            normed_nc.view({batch.ids_bt.size(0), -1, model_.hidden_size}).index_select(1, kept_k);
        outputs.logits_bkv =
            product(normed_bkc.flatten(0, 1), head_holder(parameters_, adapter_).weights().head_vc.t())
                .view({normed_bkc.size(0), kept_k.size(0), model_.vocab_size});
        shape_logits(outputs.logits_bkv);
    }
    for (const auto& [held, unit] : units_of_head(parameters_, adapter_)) held->drop(unit);
    return outputs;
}

}  // namespace ringmaster
