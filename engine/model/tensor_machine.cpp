#include "engine/model/tensor_machine.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <utility>

#include "engine/model/float_gradient.h"
#include "engine/piece_sizes.h"
#include "engine/plan/memory/memory.h"

namespace ringmaster {

Kept what_is_kept(const Plan& plan) {
    const Config& config = plan.config;
    Kept kept;
    kept.checkpointing = config.gradient_checkpointing;
    kept.attention = config.selective_checkpointing;
    kept.mlp_tile_tokens =
        mlp_tile_tokens(config, *plan.model, plan.batch.micro * plan.sequence.chunk_tokens());
    kept.chunk_tokens = plan.sequence.chunks > 1 ? plan.sequence.chunk_tokens() : 0;
    kept.in_host = config.activation_offloading;
    return kept;
}

TensorMachine::TensorMachine(const ModelConfig& model, const Parameters& parameters, const Kept& kept,
                             const Adapter* adapter, QuantizedBase* quantized)
    : all_layers_(model),
      model_(model),
      parameters_(parameters),
      kept_(kept),
      adapter_(adapter),
      quantized_(quantized),
      expert_group_(parameters.expert_group()) {}

void TensorMachine::begin_batch(SequenceShard& shard, int64_t rows, const at::Tensor& places_bt) {
    shard_ = &shard;
    cache_ = nullptr;
    keys_ = nullptr;
    shared_keys_.clear();
    rows_ = rows;
    places_bt_ = places_bt;
    places_n_ = places_bt.defined() ? places_bt.reshape({-1}) : at::Tensor();
    if (!quantizes_inputs()) return;
    outliers_.begin_tokens(places_n_, quantized_->outlier_threshold(),
                           [&shard](at::Tensor values) { shard.take_largest(values); });
}

void TensorMachine::enter_chunk(size_t chunk, LayerKeys& keys) {
    chunk_ = chunk;
    keys_ = &keys;
    shard_->enter_chunk(chunk);
    const TokenRange tokens = shard_->chunks[chunk];
    if (places_bt_.defined()) places_n_ = places_bt_.narrow(1, tokens.begin, tokens.size()).reshape({-1});
}

void TensorMachine::begin_decoding(KeyValueCache& cache) {
    shard_ = nullptr;
    keys_ = nullptr;
    cache_ = &cache;
    rows_ = 1;
    places_n_.reset();
    if (quantizes_inputs()) outliers_.begin_tokens({}, quantized_->outlier_threshold(), [](at::Tensor) {});
}

void TensorMachine::enter_layer(int layer, OutlierColumns::Sites known) {
    layer_ = layer;
    if (!all_layers_.layers.empty()) model_ = all_layers_.of_layer(layer);
    outliers_.enter_layer(std::move(known));
}

at::Tensor TensorMachine::empty_like(const at::Tensor& x) const {
    return at::empty(x.sizes(), x.options());
}

at::Tensor TensorMachine::matrix(LoraSite site) const {
    return quantized_ != nullptr ? quantized_->matrix(site) : weights().at(site).weight_oc;
}

void TensorMachine::hold_matrices() const {
    if (quantized_ != nullptr) quantized_->hold();
}

void TensorMachine::release_matrices() const {
    if (quantized_ != nullptr) quantized_->release();
}

namespace {

/// Returns the tensors of a layer's MLP and experts.
std::vector<at::Tensor*> tiled_tensors(LayerTensors& layer) {
    std::vector<at::Tensor*> all = {&layer.router_ec,           &layer.router_bias_e,
                                    &layer.expert_scales_e,     &layer.experts_gate_up_exc,
                                    &layer.experts_down_eci,    &layer.experts_gate_up_bias_ex,
                                    &layer.experts_down_bias_ec};
    for (const LoraSite site :
         {LoraSite::GateUp, LoraSite::Down, LoraSite::SharedGateUp, LoraSite::SharedDown,
          LoraSite::SharedGate, LoraSite::Router, LoraSite::ExpertsIn, LoraSite::ExpertsOut}) {
        LayerTensors::Matrix& matrix = layer.matrices[static_cast<size_t>(site)];
        all.push_back(&matrix.weight_oc);
        all.push_back(&matrix.bias_o);
    }
    return all;
}

bool is_rounded(const at::Tensor& gradient) {
    return gradient.defined() && gradient.scalar_type() == at::kBFloat16;
}

}  // namespace

void TensorMachine::begin_tile_sums(const at::Tensor& x_nc) {
    if (x_nc.size(0) <= pieces::kMostRoundedChunks * kept_.mlp_tile_tokens) return;
    LayerTensors sums = gradients();
    for (at::Tensor* tensor : tiled_tensors(sums)) {
        if (is_rounded(*tensor)) *tensor = at::zeros(tensor->sizes(), tensor->options().dtype(at::kFloat));
    }
    tile_sums_ = std::move(sums);
}

void TensorMachine::end_tile_sums(double beta) {
    if (!tile_sums_) return;
    LayerTensors sums = *std::exchange(tile_sums_, std::nullopt), layer = gradients();
    const std::vector<at::Tensor*> from = tiled_tensors(sums), to = tiled_tensors(layer);
    for (size_t i = 0; i < to.size(); ++i) {
        if (is_rounded(*to[i])) add_float_sum(*to[i], *from[i], beta);
    }
}

void TensorMachine::settle(LoraSite site, const at::Tensor& x_nc) {
    int64_t width = model_.hidden_size;
    if (site == LoraSite::Down) width = model_.intermediate_size;
    if (site == LoraSite::SharedDown) width = model_.shared_expert_intermediate_size;
    if (site == LoraSite::ExpertsOut) width = model_.expert_latent_size;
    outliers_.settle(site, width, x_nc.device());
}

at::Tensor TensorMachine::forward_product(LoraSite site, const at::Tensor& x_nc) {
    const at::Tensor& bias_o = weights().at(site).bias_o;
    if (!quantizes_inputs()) {
        const at::Tensor weight_oc = matrix(site);
        return decodes() ? decode_linear(x_nc, weight_oc, bias_o)
                         : ringmaster::linear(x_nc, weight_oc, bias_o);
    }
    if (!outliers_.knows(site)) {
        outliers_.look(x_nc);
        outliers_.settle(site, x_nc.size(1), x_nc.device());
    }
    const at::Tensor y_no = int8_linear(x_nc, quantized_->int8_matrices(site), bias_o, outliers_.of(site),
                                        quantized_->outlier_threshold());
    if (product_probe_)
        product_probe_({layer_, site, x_nc, bias_o, outliers_.of(site), outliers_.counted(), y_no});
    return y_no;
}

at::Tensor TensorMachine::linear(LoraSite site, const at::Tensor& x_nc, int64_t first) {
    at::Tensor y_no = forward_product(site, x_nc);
    if (adapter_ != nullptr) adapter_->add_forward(site, x_nc, y_no, first, frozen(site), decodes());
    return y_no;
}

FrozenLinear TensorMachine::frozen(LoraSite site) const {
    if (adapter_ == nullptr || !adapter_->reads_weights()) return {};
    return {matrix(site), weights().at(site).bias_o};
}

void TensorMachine::Pull::accumulate(const at::Tensor& x_nc, double beta) const {
    const auto& [weight_oc, bias_o] = machine_.gradients().at(site_);
    accumulate_weight_gradient(weight_oc, dy_no_, x_nc, beta);
    accumulate_bias_gradient(bias_o, dy_no_, beta);
    adapter_.accumulate(x_nc, beta);
}

at::Tensor TensorMachine::Pull::input() const {
    at::Tensor dx_nc = product(dy_no_, machine_.matrix(site_));
    adapter_.add_input_gradient(dx_nc);
    return dx_nc;
}

at::Tensor TensorMachine::Pull::input_into(const at::Tensor& out_nc) const {
    product_out(out_nc, dy_no_, machine_.matrix(site_));
    adapter_.add_input_gradient(out_nc);
    return out_nc;
}

at::Tensor TensorMachine::heads_of(const at::Tensor& qkv_nw, int64_t first, int64_t count) const {
    const int64_t D = model_.head_dim;
    return qkv_nw.view({rows_, qkv_nw.size(0) / rows_, qkv_nw.size(1) / D, D}).narrow(2, first, count);
}

void TensorMachine::rotate(const LayerKind& kind, const at::Tensor& qkv_nw, bool backward) const {
    const int64_t H = model_.num_heads, K = model_.borrows_keys ? 0 : model_.num_kv_heads;
    if (decodes()) return cache_->rotate(kind, qkv_nw, H, H + K);
    shard_->rotate_heads(kind, qkv_nw, H, H + K, model_.head_dim, backward);
}

AttentionOutput TensorMachine::attend(const LayerKind& kind, const at::Tensor& qkv_nw, SentLatents sent) {
    const int64_t H = model_.num_heads, K = model_.num_kv_heads;
    const at::Tensor& sinks_h = weights().sinks_h;
    const at::Tensor q = heads_of(qkv_nw, 0, H);
    if (decodes() && model_.borrows_keys) return cache_->attend(layer_, kind, q, {}, {}, sinks_h);
    const at::Tensor k = heads_of(qkv_nw, H, K), v = heads_of(qkv_nw, H + K, K);
    if (decodes()) return cache_->attend(layer_, kind, q, k, v, sinks_h);
    if (keys_ == nullptr) {
        const auto sender = latent_sender(sent, 0);
        return shard_->attention(kind).forward(q, k, v, sinks_h, sender.get());
    }
    const bool by_heads = shard_->ranks.ulysses().size() > 1;
    if (!by_heads) keys_->put(chunk_, {k, v});
    const AttentionOutput output = shard_->attention(kind).chunk_forward(chunk_, q, {k, v}, *keys_, sinks_h);
    if (by_heads) keys_->put(chunk_, output.by_heads.keys_values());
    return output;
}

void TensorMachine::put_keys(const LayerKind& kind, const at::Tensor& qkv_nw) const {
    const int64_t H = model_.num_heads, K = model_.num_kv_heads;
    const KeysValues own{heads_of(qkv_nw, H, K), heads_of(qkv_nw, H + K, K)};
    keys_->put(chunk_, shard_->attention(kind).held_form(chunk_, own, H));
}

at::Tensor TensorMachine::attend_backward(const LayerKind& kind, at::Tensor dheads_nw, at::Tensor qkv_nw,
                                          AttentionOutput attended, SentLatents& sent, double beta) {
    const int64_t H = model_.num_heads, K = model_.num_kv_heads;
    const auto part = [&](int64_t first, int64_t count) {
        return qkv_nw.defined() ? heads_of(qkv_nw, first, count) : at::Tensor();
    };
    at::Tensor dout_bthd = heads_of(dheads_nw, 0, H);
    const int64_t rows = dheads_nw.size(0);
    const at::TensorOptions options = dheads_nw.options();
    dheads_nw.reset();
    ShardedAttention& attention = shard_->attention(kind);
    const at::Tensor q = part(0, H), k = part(H, K), v = part(H + K, K);
    const at::Tensor sinks_h = gradients().sinks_h.defined() ? weights().sinks_h : at::Tensor();
    const auto sender = latent_sender(sent, beta);
    const AttentionGradients d =
        keys_ != nullptr
            ? attention.chunk_backward(chunk_, std::move(dout_bthd), q, {k, v}, *keys_, std::move(attended),
                                       sinks_h)
            : attention.backward(std::move(dout_bthd), q, k, v, std::move(attended), sinks_h, sender.get());
    if (d.dsinks_h.defined()) accumulate_bias_gradient(gradients().sinks_h, d.dsinks_h.unsqueeze(0), beta);
    if (!qkv_nw.defined()) qkv_nw = at::empty({rows, (H + 2 * K) * model_.head_dim}, options);
    const auto put = [&](int64_t first, const at::Tensor& gradient) {
        const at::Tensor to = heads_of(qkv_nw, first, gradient.size(2));
        if (to.data_ptr() != gradient.data_ptr()) to.copy_(gradient);
    };
    put(0, d.dq_bthd);
    put(H, d.dk_btkd);
    put(H + K, d.dv_btkd);
    if (d.vectors_bt1w.defined()) take_sent_gradients(d.vectors_bt1w, qkv_nw, sent);
    return qkv_nw;
}

std::vector<TokenRange> TensorMachine::tiles(const at::Tensor& x_nc) const {
    const int64_t tokens = x_nc.size(0);
    std::vector<TokenRange> tiles;
    for (int64_t begin = 0; begin < tokens; begin += kept_.mlp_tile_tokens)
        tiles.push_back({begin, std::min(begin + kept_.mlp_tile_tokens, tokens)});
    return tiles;
}

}  // namespace ringmaster
