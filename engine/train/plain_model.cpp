#include "engine/train/plain_model.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/model/host_arena.h"
#include "engine/model/rope.h"
#include "engine/train/plain_experts.h"
#include "engine/train/plain_recurrence.h"

namespace ringmaster {

namespace {

constexpr int64_t kLabelsAtOnce = 96;
constexpr int64_t kScoresAtOnce = int64_t{8} << 20;  // float64 numbers of attention at once

/// Returns the gradients with respect to each of `by`, given those of `of`; zeros for tensors they do not
/// depend on.
std::vector<at::Tensor> gradients_of(const std::vector<at::Tensor>& of, const std::vector<at::Tensor>& given,
                                     const std::vector<at::Tensor>& by) {
    std::vector<at::Tensor> found = torch::autograd::grad(of, by, given, false, false, true);
    for (size_t i = 0; i < found.size(); ++i) {
        if (!found[i].defined()) found[i] = at::zeros_like(by[i]);
    }
    return found;
}

constexpr const char* kPeftPrefix = "base_model.model.";

/// A unit's parameters by name, in float32.
class UnitWeights {
  public:
    UnitWeights(Parameters& parameters, int unit, bool trained)
        : parameters_(parameters),
          unit_(unit),
          values_(weights_from_their_holders(parameters, unit).to(at::kFloat).detach().clone()) {
        if (trained) values_.set_requires_grad(true);
    }

    /// Returns the parameter; undefined if the model has none of this name.
    at::Tensor of(const std::string& name) const {
        for (size_t i = 0; i < parameters_.shapes().size(); ++i) {
            if (parameters_.unit_of(i) == unit_ && parameters_.shapes()[i].name == name)
                return parameters_.view(values_, i);
        }
        return {};
    }
    /// Returns all parameters of the unit as one tensor, with the unit's padding.
    const at::Tensor& values() const { return values_; }

  private:
    Parameters& parameters_;
    int unit_;
    at::Tensor values_;
};

/// The tokens of all documents, one after the other.
struct Tokens {
    std::vector<FlatRange> documents;
    std::vector<int64_t> padded;  // length of each document's micro-batch
    at::Tensor ids_n, labels_n, places_n;
    at::Tensor segments_n;          // 2 · slot of the label, + 1 in a prompt; 0 without a label
    std::vector<RopeTables> ropes;  // in the order of ModelConfig::ropes, [N, pairs]

    int64_t count() const { return ids_n.size(0); }
};

/// Returns the angles of every token, one document after the other.
RopeTables angles_of(const ModelConfig& model, const RopeConfig& rope,
                     const std::vector<PlainDocument>& documents, at::Device device) {
    const int64_t pairs = (rope.rotary_dim > 0 ? rope.rotary_dim : model.head_dim) / 2;
    std::vector<at::Tensor> cos = {at::empty({0, pairs})}, sin = {at::empty({0, pairs})};
    std::vector<at::Tensor> scales = {at::empty({0})};
    for (const auto& [row, longest, padded, slot, learns_prompt, by_label] : documents) {
        const RopeTables tables = make_rope_tables(model, rope, at::arange(row.tokens(), at::kLong), longest);
        cos.push_back(tables.cos_td);
        sin.push_back(tables.sin_td);
        scales.push_back(tables.query_scale_t);
    }
    RopeTables angles{at::cat(cos).to(device), at::cat(sin).to(device), rope.interleaved, {}};
    if (rope.query_scale_beta != 0) angles.query_scale_t = at::cat(scales).to(device);
    return angles;
}

Tokens tokens_of(const ModelConfig& model, const std::vector<PlainDocument>& documents, at::Device device) {
    Tokens tokens;
    std::vector<int64_t> ids, labels, places, segments;
    for (const auto& [row, longest, padded, first_slot, learns_prompt, by_label] : documents) {
        int64_t slot = first_slot;
        const auto begin = static_cast<int64_t>(ids.size());
        tokens.documents.push_back({begin, begin + row.tokens()});
        tokens.padded.push_back(padded);
        for (size_t i = 0; i < row.input_ids.size(); ++i) {
            ids.push_back(row.input_ids[i]);
            const bool is_last = i + 1 == row.input_ids.size();
            const int32_t label = is_last ? kNoLabel : row.labels[i + 1];
            const bool of_prompt = learns_prompt && !is_last && label == kNoLabel;
            labels.push_back(of_prompt ? row.input_ids[i + 1] : label);
            segments.push_back(labels.back() == kNoLabel ? 0 : 2 * slot + (of_prompt ? 1 : 0));
            if (by_label && label != kNoLabel) ++slot;
            places.push_back(row.place + static_cast<int64_t>(i));
        }
    }
    for (const RopeConfig& rope : model.ropes)
        tokens.ropes.push_back(angles_of(model, rope, documents, device));
    tokens.ids_n = at::tensor(ids, at::kLong).to(device);
    tokens.labels_n = at::tensor(labels, at::kLong).to(device);
    tokens.places_n = at::tensor(places, at::kLong).to(device);
    tokens.segments_n = at::tensor(segments, at::kLong).to(device);
    return tokens;
}

// ------------------------------------------------------------------------------------------ attention

/// A document's queries, and the keys and values for every query head: float64 [H, n, D].
struct Heads {
    at::Tensor q, k, v;
};

Heads heads_of(const ModelConfig& m, const at::Tensor& qkv_nw, const FlatRange& document) {
    const at::Tensor all = qkv_nw.narrow(0, document.begin, document.size())
                               .to(at::kDouble)
                               .view({document.size(), m.num_heads + 2 * m.num_kv_heads, m.head_dim})
                               .transpose(0, 1);
    const auto keys = [&](int64_t first) {
        return all.narrow(0, first, m.num_kv_heads).repeat_interleave(m.num_heads / m.num_kv_heads, 0);
    };
    return {all.narrow(0, 0, m.num_heads), keys(m.num_heads), keys(m.num_heads + m.num_kv_heads)};
}

double score_scale(const ModelConfig& m) {
    return m.attention_scale != 0 ? m.attention_scale : 1 / std::sqrt(static_cast<double>(m.head_dim));
}

/// Calls `body` with the first query, the number of queries, their probabilities over the document's keys up
/// to the last query, [H, queries, keys], and the slopes of a softcap there.
template <typename Body>
void for_query_blocks(const ModelConfig& m, const LayerKind& kind, const Heads& heads, const Body& body) {
    const int64_t tokens = heads.q.size(1);
    const int64_t most = std::max<int64_t>(1, kScoresAtOnce / (m.num_heads * tokens));
    for (int64_t begin = 0; begin < tokens; begin += most) {
        const int64_t count = std::min(most, tokens - begin), keys = begin + count;
        const auto options = at::TensorOptions().dtype(at::kLong).device(heads.q.device());
        const at::Tensor query = at::arange(begin, keys, options).unsqueeze(1);
        const at::Tensor key = at::arange(keys, options).unsqueeze(0);
        at::Tensor hidden = key > query;
        if (kind.window) hidden = hidden.logical_or(key <= query - *kind.window);
        at::Tensor scores =
            at::matmul(heads.q.narrow(1, begin, count), heads.k.narrow(1, 0, keys).transpose(1, 2)) *
            score_scale(m);
        at::Tensor slopes = at::ones({}, scores.options());
        if (m.score_softcap != 0) {
            const at::Tensor tanh = at::tanh(scores / m.score_softcap);
            scores = m.score_softcap * tanh;
            slopes = 1 - tanh.square();
        }
        body(begin, count,
             at::softmax(scores.masked_fill(hidden, -std::numeric_limits<double>::infinity()), 2), slopes);
    }
}

at::Tensor attention_forward(const ModelConfig& m, const LayerKind& kind, const at::Tensor& qkv_nw,
                             const Tokens& tokens) {
    if (kind.recurs) return plain_rule(m.delta, qkv_nw, tokens.documents);
    at::Tensor out_nw = at::empty({tokens.count(), m.num_heads * m.head_dim}, qkv_nw.options());
    for (const FlatRange& document : tokens.documents) {
        const Heads heads = heads_of(m, qkv_nw, document);
        for_query_blocks(m, kind, heads, [&](int64_t begin, int64_t count, const at::Tensor& p, auto&&) {
            const at::Tensor out = at::matmul(p, heads.v.narrow(1, 0, begin + count));
            out_nw.narrow(0, document.begin + begin, count)
                .copy_(out.transpose(0, 1).reshape({count, m.num_heads * m.head_dim}));
        });
    }
    return out_nw;
}

at::Tensor attention_backward(const ModelConfig& m, const LayerKind& kind, const at::Tensor& qkv_nw,
                              const at::Tensor& dout_nw, const Tokens& tokens) {
    if (kind.recurs) return plain_rule_backward(m.delta, qkv_nw, dout_nw, tokens.documents);
    at::Tensor dqkv_nw = at::empty_like(qkv_nw);
    const double scale = score_scale(m);
    for (const FlatRange& document : tokens.documents) {
        const int64_t n = document.size();
        const Heads heads = heads_of(m, qkv_nw, document);
        const at::Tensor dout = dout_nw.narrow(0, document.begin, n)
                                    .to(at::kDouble)
                                    .view({n, m.num_heads, m.head_dim})
                                    .transpose(0, 1);
        at::Tensor dq = at::empty_like(heads.q), dk = at::zeros_like(heads.k), dv = at::zeros_like(heads.v);
        for_query_blocks(
            m, kind, heads, [&](int64_t begin, int64_t count, const at::Tensor& p, const at::Tensor& slopes) {
                const int64_t keys = begin + count;
                const at::Tensor k = heads.k.narrow(1, 0, keys), v = heads.v.narrow(1, 0, keys);
                const at::Tensor dy = dout.narrow(1, begin, count);
                const at::Tensor dp = at::matmul(dy, v.transpose(1, 2));
                const at::Tensor ds = p * (dp - (p * dp).sum(2, true)) * slopes * scale;
                dq.narrow(1, begin, count).copy_(at::matmul(ds, k));
                dk.narrow(1, 0, keys).add_(at::matmul(ds.transpose(1, 2), heads.q.narrow(1, begin, count)));
                dv.narrow(1, 0, keys).add_(at::matmul(p.transpose(1, 2), dy));
            });
        const auto of_key_heads = [&](const at::Tensor& d) {
            return d.view({m.num_kv_heads, m.num_heads / m.num_kv_heads, n, m.head_dim}).sum(1);
        };
        const at::Tensor all = at::cat({dq, of_key_heads(dk), of_key_heads(dv)});
        dqkv_nw.narrow(0, document.begin, n).copy_(all.transpose(0, 1).reshape({n, dqkv_nw.size(1)}));
    }
    return dqkv_nw;
}

// ------------------------------------------------------------------------------------------ a layer

/// `bias` is undefined if the norm has none.
at::Tensor norm(const ModelConfig& m, const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
    const at::Tensor centered = m.layer_norms ? x - x.mean(-1, true) : x;
    const at::Tensor normed = centered * (centered.square().mean(-1, true) + m.rms_norm_eps).rsqrt();
    const at::Tensor y = normed * (m.norm_adds_one ? 1 + weight : weight);
    return bias.defined() ? y + bias : y;
}

/// Computes one layer with autograd.
class Layer {
  public:
    Layer(const ModelConfig& model, TrainedModel& trained, int layer, const UnitWeights& weights,
          const UnitWeights* adapter, const Tokens& tokens, const at::Tensor& bytes)
        : m_(model),
          quantized_(trained.quantized_or_null()),
          lora_(trained.adapter ? &*trained.adapter : nullptr),
          layer_(layer),
          weights_(weights),
          adapter_(adapter),
          tokens_(tokens),
          bytes_(bytes) {}

    LayerKind kind() const { return m_.layer_kind(layer_); }

    /// Returns queries, keys and values by heads, with queries and keys normed and rotated; or the inputs of
    /// a recurrence.
    at::Tensor before_attention(const at::Tensor& x_nc) const {
        const at::Tensor read = input(x_nc, "input_layernorm");
        if (kind().recurs)
            return plain_rule_inputs(m_.delta, delta(), dense(read, LoraSite::DeltaIn), tokens_.documents);
        const int64_t H = m_.num_heads, K = m_.num_kv_heads, D = m_.head_dim;
        at::Tensor all = queries_keys_values(read);
        if (m_.qkv_by_heads) all = all.view({-1, H, 3, D}).transpose(1, 2).flatten(1);
        const at::Tensor q = scaled(placed(all.narrow(1, 0, H * D), "self_attn.q_norm"));
        const at::Tensor k = placed(all.narrow(1, H * D, K * D), "self_attn.k_norm");
        return at::cat({q, k, all.narrow(1, (H + K) * D, K * D)}, 1);
    }

    /// Returns the layer's output, and the rest of its mixture if it has experts.
    PlainMixture after_attention(const at::Tensor& x_nc, const at::Tensor& heads_nw) const {
        const at::Tensor mid = x_nc + output(mixed(x_nc, heads_nw), "attention_output_norm");
        const bool shares_norm = m_.parallel_blocks && !m_.parallel_norms;
        PlainMixture mlp = feed_forward(input(m_.parallel_blocks ? x_nc : mid,
                                              shares_norm ? "input_layernorm" : "post_attention_layernorm"));
        mlp.y_nc = mid + output(mlp.y_nc, "mlp_output_norm");
        return mlp;
    }

  private:
    at::Tensor own(const std::string& name) const {
        return weights_.of("model.layers." + std::to_string(layer_) + "." + name);
    }

    DeltaWeights delta() const {
        return {own("linear_attn.conv1d.weight"), own("linear_attn.dt_bias"), own("linear_attn.A_log"),
                own("linear_attn.norm.weight")};
    }

    /// Returns the queries (`part` 0) or the gates (1), which q_proj gives of each head in turn.
    at::Tensor queries_or_gates(const at::Tensor& all, int64_t part) const {
        const int64_t queries = m_.num_heads * m_.head_dim;
        return all.narrow(1, 0, 2 * queries)
            .view({-1, m_.num_heads, 2, m_.head_dim})
            .select(2, part)
            .flatten(1);
    }

    at::Tensor queries_keys_values(const at::Tensor& read) const {
        const at::Tensor all = dense(read, LoraSite::Qkv);
        if (!m_.gates_attention) return all;
        const int64_t both = 2 * m_.num_heads * m_.head_dim;
        return at::cat({queries_or_gates(all, 0), all.narrow(1, both, all.size(1) - both)}, 1);
    }

    /// Returns the output of the attention or the recurrence, given that of its heads.
    at::Tensor mixed(const at::Tensor& x_nc, const at::Tensor& heads_nw) const {
        if (!kind().recurs && !m_.gates_attention) return dense(heads_nw, LoraSite::Output);
        const at::Tensor read = input(x_nc, "input_layernorm");
        if (!kind().recurs)
            return dense(heads_nw * at::sigmoid(queries_or_gates(dense(read, LoraSite::Qkv), 1)),
                         LoraSite::Output);
        const at::Tensor projected = dense(read, LoraSite::DeltaIn);
        return dense(plain_gated(m_.delta, delta(), m_.rms_norm_eps, projected, heads_nw),
                     LoraSite::DeltaOutput);
    }

    PlainMixture feed_forward(const at::Tensor& read) const {
        if (m_.num_experts == 0) return {mlp(read, LoraSite::GateUp, LoraSite::Down), {}, {}};
        PlainMixture mixture = plain_mixture(
            m_, {own("mlp.gate.weight"), experts(Role::ExpertGateUp), experts(Role::ExpertDown)}, read);
        if (m_.shared_expert_intermediate_size > 0)
            mixture.y_nc = mixture.y_nc + at::sigmoid(dense(read, LoraSite::SharedGate)) *
                                              mlp(read, LoraSite::SharedGateUp, LoraSite::SharedDown);
        return mixture;
    }

    /// Returns the matrices of all experts with what an adapter adds to them.
    at::Tensor experts(Role role) const {
        const std::string name = kExpertParameters[role == Role::ExpertDown ? 1 : 0];
        const at::Tensor weight_eoi = quantized_ != nullptr && quantized_->holds_experts()
                                          ? quantized_->plain_experts(bytes_, layer_, role).to(at::kFloat)
                                          : own(name);
        if (adapter_ == nullptr) return weight_eoi;
        const std::string adapted = "base_model.model.model.layers." + std::to_string(layer_) + "." + name;
        const at::Tensor a = adapter_->of(adapted + ".lora_A.weight");
        if (!a.defined()) return weight_eoi;
        const int64_t E = m_.num_experts;
        const at::Tensor b_ore = adapter_->of(adapted + ".lora_B.weight").unflatten(1, {-1, E});
        return weight_eoi + lora_->scale() * at::matmul(b_ore.permute({2, 0, 1}), a.unflatten(0, {E, -1}));
    }

    at::Tensor mlp(const at::Tensor& read, LoraSite gate_up, LoraSite down) const {
        const at::Tensor all = dense(read, gate_up);
        const int64_t width = all.size(1) / (m_.gate.gated ? 2 : 1);
        const at::Tensor act = plain_activation(all.narrow(1, 0, width), m_.gate.activation);
        return dense(m_.gate.gated ? act * all.narrow(1, width, width) : act, down);
    }

    at::Tensor normed(const at::Tensor& x, const std::string& name) const {
        return norm(m_, x, own(name + ".weight"), own(name + ".bias"));
    }

    at::Tensor input(const at::Tensor& x, const char* name) const {
        return m_.norms_inputs ? normed(x, name) : x;
    }
    at::Tensor output(const at::Tensor& y, const char* name) const {
        return (m_.norms_outputs ? normed(y, name) : y) * m_.residual_multiplier;
    }

    /// Returns a module's matrix; undefined if a matrix before it holds its rows, or if there is none.
    at::Tensor matrix(size_t target) const {
        if (quantized_ == nullptr) return own(module_path(target) + ".weight");
        if (!quantized_->has(target)) return {};
        return quantized_->plain_matrix(bytes_, layer_, target).to(at::kFloat);
    }

    /// Applies the modules of a site with their adapters; returns their outputs side by side.
    at::Tensor dense(const at::Tensor& x, LoraSite site) const {
        const auto [first, count] = targets_of(site);
        std::vector<at::Tensor> outputs;
        for (size_t target = first; target < first + count; ++target)
            if (const at::Tensor weight = matrix(target); weight.defined())
                outputs.push_back(module(x, weight, target));
        return at::cat(outputs, 1);
    }

    at::Tensor module(const at::Tensor& x, const at::Tensor& weight, size_t target) const {
        const std::string module = module_path(target);
        at::Tensor y = at::matmul(x, weight.t());
        if (const at::Tensor bias = own(module + ".bias"); bias.defined()) y = y + bias;
        if (adapter_ == nullptr) return y;
        const std::string name = "base_model.model.model.layers." + std::to_string(layer_) + "." + module;
        const at::Tensor a = adapter_->of(name + ".lora_A.weight");
        if (!a.defined()) return y;
        const at::Tensor kept = lora_->dropout_factors(layer_, target, tokens_.places_n, x.size(1));
        const at::Tensor dropped = kept.defined() ? x * kept : x;
        const at::Tensor b = adapter_->of(name + ".lora_B.weight");
        const at::Tensor change = at::matmul(at::matmul(dropped, a.t()), b.t()) * lora_->scale();
        const at::Tensor magnitude = adapter_->of(name + ".lora_magnitude_vector");
        if (!magnitude.defined()) return y + change;
        const at::Tensor lengths = (weight + lora_->scale() * at::matmul(b, a)).detach().norm(2, 1);
        const at::Tensor factors = magnitude / lengths;
        return y + (factors - 1) * at::matmul(dropped, weight.t()) + factors * change;
    }

    /// Scales queries that grow with their position.
    at::Tensor scaled(const at::Tensor& q_nw) const {
        if (kind().rope < 0) return q_nw;
        const at::Tensor& scale = tokens_.ropes[static_cast<size_t>(kind().rope)].query_scale_t;
        return scale.defined() ? q_nw * scale.unsqueeze(1) : q_nw;
    }

    at::Tensor placed(const at::Tensor& x_nw, const char* norm_name) const {
        if (m_.qk_norm == QkNorm::None) return rotated(x_nw);
        const auto by_heads = [&](const at::Tensor& x) {
            const bool whole = m_.qk_norm == QkNorm::Whole;
            return normed(whole ? x : x.view({x.size(0), -1, m_.head_dim}), norm_name).flatten(1);
        };
        return m_.qk_norm_after_rotary ? by_heads(rotated(x_nw)) : rotated(by_heads(x_nw));
    }

    /// Rotates pairs of a head's first elements by the position's angles (Su et al. 2021).
    at::Tensor rotated(const at::Tensor& x_nw) const {
        if (kind().rope < 0) return x_nw;
        const auto index = static_cast<size_t>(kind().rope);
        const RopeTables& angles = tokens_.ropes[index];
        const int64_t pairs = angles.cos_td.size(1), rest = m_.head_dim - 2 * pairs;
        const at::Tensor x = x_nw.view({x_nw.size(0), -1, m_.head_dim});
        const at::Tensor cos = angles.cos_td.unsqueeze(1), sin = angles.sin_td.unsqueeze(1);
        const at::Tensor turning = x.narrow(2, 0, 2 * pairs);
        const bool interleaved = m_.ropes[index].interleaved;
        const at::Tensor a = interleaved ? turning.slice(2, 0, std::nullopt, 2) : turning.narrow(2, 0, pairs);
        const at::Tensor b =
            interleaved ? turning.slice(2, 1, std::nullopt, 2) : turning.narrow(2, pairs, pairs);
        const at::Tensor left = a * cos - b * sin, right = b * cos + a * sin;
        const at::Tensor turned =
            interleaved ? at::stack({left, right}, 3).flatten(2) : at::cat({left, right}, 2);
        return at::cat({turned, x.narrow(2, 2 * pairs, rest)}, 2).flatten(1);
    }

    const ModelConfig& m_;
    QuantizedBase* quantized_;
    const Adapter* lora_;
    int layer_;
    const UnitWeights& weights_;
    const UnitWeights* adapter_;
    const Tokens& tokens_;
    const at::Tensor bytes_;  ///< bytes of the layer's quantised matrices
};

// ------------------------------------------------------------------------------------------ the model

class PlainModel {
  public:
    PlainModel(const ModelConfig& model, TrainedModel& trained, Groups& groups, const Tokens& tokens,
               double scale, const EmbeddingNoise* noise, const PlainComparison* comparison)
        : model_(model),
          trained_(trained),
          groups_(groups),
          tokens_(tokens),
          scale_(scale),
          noise_(noise),
          comparison_(comparison),
          sums_(like_gradients(trained.trained())) {}

    PlainGradients learn(const PlainProbe& probe) {
        std::vector<at::Tensor> inputs = {embedded()};
        for (int layer = 0; layer < layers(); ++layer) inputs.push_back(forward(layer, inputs.back()));
        router_gradient_e_ = plain_router_gradient(model_, groups_, mixtures_);
        at::Tensor dx_nc = head(inputs.back());
        for (int layer = layers() - 1; layer >= 0; --layer) {
            inputs.pop_back();
            dx_nc = backward(layer, inputs.back(), dx_nc, probe);
        }
        if (!trained_.trained().is_empty(0)) {
            if (!of_embedding_.defined()) of_embedding_ = zeros_of_unit(trained_.trained(), 0);
            if (tokens_.count() > 0) {
                at::Tensor table = trained_.trained().view(of_embedding_, 0);
                at::Tensor dx = dx_nc * model_.embedding_multiplier;
                if (model_.padding_token) dx *= tokens_.ids_n.ne(*model_.padding_token).unsqueeze(1);
                table.index_add_(0, tokens_.ids_n, dx);
            }
            keep(0, of_embedding_);
        }
        return {loss_sum_, sums_, mixtures_};
    }

  private:
    int layers() const { return static_cast<int>(model_.num_layers); }

    /// Returns zeros in float32 with the gradients' slices, where the gradients are kept.
    static Flat like_gradients(Parameters& parameters) {
        const Flat& gradients = parameters.gradients();
        return lies_in_host(gradients.values)
                   ? host_flat(parameters, gradients.sharded, at::kFloat)
                   : parameters.make_flat(gradients.sharded, at::kFloat, parameters.device());
    }

    at::Tensor zeros_of_unit(Parameters& parameters, int unit) const {
        const int64_t ranks = parameters.stage() > 0 ? parameters.sharding_groups()->shard().size() : 1;
        return at::zeros({ranks * parameters.own_slice(parameters.master(), unit).size(0)},
                         at::TensorOptions().dtype(at::kFloat).device(groups_.device()));
    }

    /// Sums a unit's gradients over all ranks, and keeps this rank's slice.
    void keep(int unit, at::Tensor gradients) {
        Parameters& parameters = trained_.trained();
        if (parameters.is_empty(unit)) return;
        gradients = gradients.contiguous();
        groups_.world().all_reduce(gradients).wait();
        at::Tensor own = parameters.own_slice(sums_, unit);
        const int64_t rank = parameters.stage() > 0 ? parameters.sharding_groups()->shard().rank() : 0;
        own.copy_(gradients.narrow(0, rank * own.size(0), own.size(0)));
    }

    at::Tensor embedded() {
        const bool saved = trained_.adapter && !trained_.trained().is_empty(0);
        const UnitWeights weights(saved ? trained_.trained() : trained_.weights, 0, false);
        const at::Tensor table =
            weights.of((saved ? kPeftPrefix : "") + std::string("model.embed_tokens.weight"));
        at::Tensor x_nc = table.index_select(0, tokens_.ids_n) * model_.embedding_multiplier;
        for (size_t i = 0; noise_ != nullptr && noise_->on() && i < tokens_.documents.size(); ++i) {
            const auto of_document = [&](const at::Tensor& x) {
                return x.narrow(0, tokens_.documents[i].begin, tokens_.documents[i].size());
            };
            noise_->add(of_document(x_nc), of_document(tokens_.places_n), tokens_.padded[i]);
        }
        return x_nc;
    }

    /// Returns the unit's bytes; undefined if no weights are quantised.
    at::Tensor quantized_bytes(int unit) {
        return trained_.quantized ? weights_from_their_holders(trained_.quantized->bytes(), unit)
                                  : at::Tensor();
    }

    at::Tensor forward(int index, const at::Tensor& x_nc) {
        const int unit = trained_.weights.unit_of_layer(index);
        const UnitWeights weights(trained_.weights, unit, false);
        std::optional<UnitWeights> adapter;
        if (trained_.adapter) adapter.emplace(trained_.trained(), unit, false);
        const at::Tensor bytes = quantized_bytes(unit);
        if (tokens_.count() == 0) return x_nc;
        const Layer layer(model_, trained_, index, weights, adapter ? &*adapter : nullptr, tokens_, bytes);
        PlainMixture made = layer.after_attention(
            x_nc, attention_forward(model_, layer.kind(), layer.before_attention(x_nc), tokens_));
        const at::Tensor y_nc = std::move(made.y_nc);
        made.probabilities_ne.reset();
        if (made.chosen_nk.defined()) mixtures_.push_back(std::move(made));
        return y_nc;
    }

    /// Returns the gradient of the layer's input.
    at::Tensor backward(int index, const at::Tensor& input_nc, const at::Tensor& dy_nc,
                        const PlainProbe& probe) {
        const int unit = trained_.weights.unit_of_layer(index);
        const UnitWeights weights(trained_.weights, unit, !trained_.adapter);
        std::optional<UnitWeights> adapter;
        if (trained_.adapter) adapter.emplace(trained_.trained(), unit, true);
        const at::Tensor bytes = quantized_bytes(unit);
        const at::Tensor learned = adapter ? adapter->values() : weights.values();
        if (tokens_.count() == 0) {
            keep(unit, at::zeros_like(learned));
            return dy_nc;
        }
        const Layer layer(model_, trained_, index, weights, adapter ? &*adapter : nullptr, tokens_, bytes);
        const c10::AutoGradMode with_gradients(true);
        const at::Tensor x_nc = input_nc.detach().set_requires_grad(true);
        const at::Tensor qkv_nw = layer.before_attention(x_nc);
        const at::Tensor heads_nw =
            attention_forward(model_, layer.kind(), qkv_nw.detach(), tokens_).set_requires_grad(true);
        const PlainMixture made = layer.after_attention(x_nc, heads_nw);
        std::vector<at::Tensor> of = {made.y_nc}, given = {dy_nc};
        if (router_gradient_e_.defined()) {
            of.push_back(made.probabilities_ne);
            given.push_back(router_gradient_e_.expand_as(made.probabilities_ne));
        }
        const auto after = gradients_of(of, given, {x_nc, heads_nw, learned});
        const at::Tensor dqkv_nw =
            attention_backward(model_, layer.kind(), qkv_nw.detach(), after[1], tokens_);
        if (!layer.kind().recurs) probe(index, dqkv_nw);
        const auto before = gradients_of({qkv_nw}, {dqkv_nw}, {x_nc, learned});
        keep(unit, (after[2] + before[1]).detach());
        return (after[0] + before[0]).detach();
    }

    /// Returns each label's weight in the comparison's loss, which follows from the sums of all ranks' slots.
    template <class Losses>
    at::Tensor compared(const at::Tensor& x_nc, const at::Tensor& labelled, const Losses& losses_of) {
        at::Tensor sums_s = at::zeros({2 * comparison_->slots}, x_nc.options().dtype(at::kDouble));
        for (const at::Tensor& some : labelled.split(kLabelsAtOnce)) {
            if (some.size(0) == 0) break;
            sums_s.index_add_(0, tokens_.segments_n.index_select(0, some),
                              losses_of(x_nc.index_select(0, some), some).neg());
        }
        groups_.world().all_reduce(sums_s).wait();
        const c10::AutoGradMode with_gradients(true);
        const at::Tensor sums_d2 = sums_s.view({-1, 2}).detach().set_requires_grad(true);
        const at::Tensor loss = comparison_->loss(sums_d2);
        loss_sum_ = loss.item<double>();
        const at::Tensor by_sum = gradients_of({loss}, {at::ones_like(loss)}, {sums_d2})[0];
        return by_sum.reshape({-1}).index_select(0, tokens_.segments_n).neg().detach();
    }

    /// Computes loss and gradients of norm and head, a few tokens at a time. Returns the gradient of x_nc.
    at::Tensor head(const at::Tensor& x_nc) {
        Parameters& all = trained_.weights;
        const bool saved = trained_.adapter && !trained_.trained().is_empty(all.head_unit());
        const bool learns = !trained_.adapter || saved, tied = model_.tie_word_embeddings && !saved;
        const UnitWeights last(all, all.head_unit(), !trained_.adapter);
        std::optional<UnitWeights> own;  // the head saved with the adapter
        if (saved) own.emplace(trained_.trained(), all.head_unit(), true);
        const UnitWeights& learned = own ? *own : last;
        std::optional<UnitWeights> embedding;
        if (tied) embedding.emplace(all, 0, learns);
        at::Tensor of_head = at::zeros_like(learned.values());
        if (tied && learns) of_embedding_ = at::zeros_like(embedding->values());
        at::Tensor dx_nc = at::zeros_like(x_nc);
        const at::Tensor labelled = at::nonzero(tokens_.labels_n.ne(kNoLabel)).squeeze(1);
        const auto losses_of = [&](const at::Tensor& x, const at::Tensor& some) {
            const at::Tensor normed =
                norm(model_, x, last.of("model.norm.weight"), last.of("model.norm.bias"));
            const at::Tensor table = own    ? own->of(kPeftPrefix + std::string("lm_head.weight"))
                                     : tied ? embedding->of("model.embed_tokens.weight")
                                            : last.of("lm_head.weight");
            at::Tensor logits = at::matmul(normed, table.t()).to(at::kDouble);
            const at::Tensor bias =
                own ? own->of(kPeftPrefix + std::string("lm_head.bias")) : last.of("lm_head.bias");
            if (bias.defined()) logits = logits + bias;
            logits = logits * model_.logit_multiplier;
            if (model_.logit_softcap != 0)
                logits = model_.logit_softcap * at::tanh(logits / model_.logit_softcap);
            const at::Tensor labels = tokens_.labels_n.index_select(0, some).unsqueeze(1);
            return at::log_softmax(logits, 1).gather(1, labels).squeeze(1).neg();
        };
        const at::Tensor weights_n =
            comparison_ != nullptr ? compared(x_nc, labelled, losses_of) : at::Tensor();
        for (const at::Tensor& some : labelled.split(kLabelsAtOnce)) {
            if (some.size(0) == 0) break;
            const c10::AutoGradMode with_gradients(true);
            const at::Tensor x = x_nc.index_select(0, some).detach().set_requires_grad(true);
            const at::Tensor losses = losses_of(x, some);
            if (comparison_ == nullptr) loss_sum_ += losses.sum().item<double>();
            const at::Tensor given =
                comparison_ != nullptr ? weights_n.index_select(0, some) : at::full_like(losses, scale_);
            std::vector<at::Tensor> by = {x};
            if (learns) by.push_back(learned.values());
            if (learns && tied) by.push_back(embedding->values());
            const auto d = gradients_of({losses}, {given}, by);
            dx_nc.index_copy_(0, some, d[0]);
            if (learns) of_head.add_(d[1].detach());
            if (learns && tied) of_embedding_.add_(d[2].detach());
        }
        if (learns) keep(all.head_unit(), of_head.detach());
        return dx_nc;
    }

    const ModelConfig& model_;
    TrainedModel& trained_;
    Groups& groups_;
    const Tokens& tokens_;
    const double scale_;
    const EmbeddingNoise* noise_;
    const PlainComparison* comparison_;
    Flat sums_;
    double loss_sum_ = 0;
    std::vector<PlainMixture> mixtures_;  ///< one per layer; empty without experts
    at::Tensor router_gradient_e_;
    at::Tensor of_embedding_;  ///< the head's part in the gradient of tied weights
};

}  // namespace

at::Tensor weights_from_their_holders(Parameters& parameters, int unit) {
    const at::Tensor own = parameters.own_slice(parameters.master(), unit).to(parameters.device());
    const at::ScalarType dtype = parameters.compute_dtype();
    Groups* groups = parameters.sharding_groups();
    if (groups == nullptr) return own.to(dtype);
    Group& shard = groups->shard();
    at::Tensor whole = at::zeros({shard.size() * own.size(0)}, own.options());
    whole.narrow(0, shard.rank() * own.size(0), own.size(0)).copy_(own);
    shard.all_reduce(whole).wait();
    return whole.to(dtype);
}

PlainGradients plain_gradients(const ModelConfig& model, TrainedModel& trained, Groups& groups,
                               const std::vector<PlainDocument>& documents, double scale,
                               const PlainProbe& probe, const EmbeddingNoise* noise,
                               const PlainComparison* comparison) {
    const Tokens tokens = tokens_of(model, documents, groups.device());
    return PlainModel(model, trained, groups, tokens, scale, noise, comparison).learn(probe);
}

}  // namespace ringmaster
