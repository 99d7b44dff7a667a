#include "engine/train/plain_model.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/model/rope.h"

namespace ringmaster {

namespace {

constexpr int64_t kLabelsAtOnce = 96;
constexpr int64_t kScoresAtOnce = int64_t{8} << 20;  // float64 numbers of attention

/// The gradients of `of` by `by`, with `given` as the gradient of `of`; zeros for what does not reach it.
std::vector<at::Tensor> gradients_of(const at::Tensor& of, const at::Tensor& given,
                                     const std::vector<at::Tensor>& by) {
    std::vector<at::Tensor> found = torch::autograd::grad({of}, by, {given}, false, false, true);
    for (size_t i = 0; i < found.size(); ++i) {
        if (!found[i].defined()) found[i] = at::zeros_like(by[i]);
    }
    return found;
}

/// A unit's parameters by name, float32.
class UnitWeights {
  public:
    UnitWeights(Parameters& parameters, int unit, bool trained)
        : parameters_(parameters),
          unit_(unit),
          values_(weights_from_their_holders(parameters, unit).to(at::kFloat).detach().clone()) {
        if (trained) values_.set_requires_grad(true);
    }

    /// Undefined if the model has none of this name.
    at::Tensor of(const std::string& name) const {
        for (size_t i = 0; i < parameters_.shapes().size(); ++i) {
            if (parameters_.unit_of(i) == unit_ && parameters_.shapes()[i].name == name)
                return parameters_.view(values_, i);
        }
        return {};
    }
    /// All of them, as one tensor with the unit's padding.
    const at::Tensor& values() const { return values_; }

  private:
    Parameters& parameters_;
    int unit_;
    at::Tensor values_;
};

/// The documents one after the other.
struct Tokens {
    std::vector<FlatRange> documents;
    at::Tensor ids_n, labels_n, places_n;
    at::Tensor cos_nd, sin_nd;  // [N, D/2]

    int64_t count() const { return ids_n.size(0); }
};

Tokens tokens_of(const ModelConfig& model, const std::vector<PlainDocument>& documents, at::Device device) {
    Tokens tokens;
    std::vector<int64_t> ids, labels, places;
    std::vector<at::Tensor> cos = {at::empty({0, model.head_dim / 2})};
    std::vector<at::Tensor> sin = {at::empty({0, model.head_dim / 2})};
    for (const auto& [row, longest] : documents) {
        const auto begin = static_cast<int64_t>(ids.size());
        tokens.documents.push_back({begin, begin + row.tokens()});
        for (size_t i = 0; i < row.input_ids.size(); ++i) {
            ids.push_back(row.input_ids[i]);
            labels.push_back(i + 1 < row.labels.size() ? row.labels[i + 1] : kNoLabel);
            places.push_back(row.place + static_cast<int64_t>(i));
        }
        const RopeTables tables = make_rope_tables(model, at::arange(row.tokens(), at::kLong), longest);
        cos.push_back(tables.cos_td);
        sin.push_back(tables.sin_td);
    }
    tokens.ids_n = at::tensor(ids, at::kLong).to(device);
    tokens.labels_n = at::tensor(labels, at::kLong).to(device);
    tokens.places_n = at::tensor(places, at::kLong).to(device);
    tokens.cos_nd = at::cat(cos).to(device);
    tokens.sin_nd = at::cat(sin).to(device);
    return tokens;
}

// ------------------------------------------------------------------------------------------ attention

/// A document's queries, keys and values with the keys of every query head: float64 [H, n, D].
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

/// Calls `body` with the first query, the number of queries and their probabilities over the document's
/// keys up to the last query, [H, queries, keys].
template <typename Body>
void for_query_blocks(const ModelConfig& m, const Heads& heads, const Body& body) {
    const int64_t tokens = heads.q.size(1);
    const int64_t most = std::max<int64_t>(1, kScoresAtOnce / (m.num_heads * tokens));
    for (int64_t begin = 0; begin < tokens; begin += most) {
        const int64_t count = std::min(most, tokens - begin), keys = begin + count;
        const auto options = at::TensorOptions().dtype(at::kLong).device(heads.q.device());
        const at::Tensor query = at::arange(begin, keys, options).unsqueeze(1);
        const at::Tensor key = at::arange(keys, options).unsqueeze(0);
        at::Tensor hidden = key > query;
        if (m.sliding_window) hidden = hidden.logical_or(key <= query - *m.sliding_window);
        const at::Tensor scores =
            at::matmul(heads.q.narrow(1, begin, count), heads.k.narrow(1, 0, keys).transpose(1, 2)) /
            std::sqrt(static_cast<double>(m.head_dim));
        body(begin, count,
             at::softmax(scores.masked_fill(hidden, -std::numeric_limits<double>::infinity()), 2));
    }
}

at::Tensor attention_forward(const ModelConfig& m, const at::Tensor& qkv_nw, const Tokens& tokens) {
    at::Tensor out_nw = at::empty({tokens.count(), m.num_heads * m.head_dim}, qkv_nw.options());
    for (const FlatRange& document : tokens.documents) {
        const Heads heads = heads_of(m, qkv_nw, document);
        for_query_blocks(m, heads, [&](int64_t begin, int64_t count, const at::Tensor& p) {
            const at::Tensor out = at::matmul(p, heads.v.narrow(1, 0, begin + count));
            out_nw.narrow(0, document.begin + begin, count)
                .copy_(out.transpose(0, 1).reshape({count, m.num_heads * m.head_dim}));
        });
    }
    return out_nw;
}

at::Tensor attention_backward(const ModelConfig& m, const at::Tensor& qkv_nw, const at::Tensor& dout_nw,
                              const Tokens& tokens) {
    at::Tensor dqkv_nw = at::empty_like(qkv_nw);
    const double scale = 1 / std::sqrt(static_cast<double>(m.head_dim));
    for (const FlatRange& document : tokens.documents) {
        const int64_t n = document.size();
        const Heads heads = heads_of(m, qkv_nw, document);
        const at::Tensor dout = dout_nw.narrow(0, document.begin, n)
                                    .to(at::kDouble)
                                    .view({n, m.num_heads, m.head_dim})
                                    .transpose(0, 1);
        at::Tensor dq = at::empty_like(heads.q), dk = at::zeros_like(heads.k), dv = at::zeros_like(heads.v);
        for_query_blocks(m, heads, [&](int64_t begin, int64_t count, const at::Tensor& p) {
            const int64_t keys = begin + count;
            const at::Tensor k = heads.k.narrow(1, 0, keys), v = heads.v.narrow(1, 0, keys);
            const at::Tensor dy = dout.narrow(1, begin, count);
            const at::Tensor dp = at::matmul(dy, v.transpose(1, 2));
            const at::Tensor ds = p * (dp - (p * dp).sum(2, true)) * scale;
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

at::Tensor norm(const at::Tensor& x, const at::Tensor& weight, double eps) {
    return x * (x.square().mean(-1, true) + eps).rsqrt() * weight;
}

/// One layer's operations, with autograd.
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

    /// Queries, keys and values of heads, queries and keys rotated.
    at::Tensor before_attention(const at::Tensor& x_nc) const {
        const at::Tensor normed = norm(x_nc, own("input_layernorm.weight"), m_.rms_norm_eps);
        const at::Tensor q = rotated(dense(normed, 0), "self_attn.q_norm.weight");
        const at::Tensor k = rotated(dense(normed, 1), "self_attn.k_norm.weight");
        return at::cat({q, k, dense(normed, 2)}, 1);
    }

    at::Tensor after_attention(const at::Tensor& x_nc, const at::Tensor& heads_nw) const {
        const at::Tensor mid = x_nc + dense(heads_nw, 3);
        const at::Tensor normed = norm(mid, own("post_attention_layernorm.weight"), m_.rms_norm_eps);
        return mid + dense(at::silu(dense(normed, 4)) * dense(normed, 5), 6);
    }

  private:
    at::Tensor own(const std::string& name) const {
        return weights_.of("model.layers." + std::to_string(layer_) + "." + name);
    }

    at::Tensor matrix(size_t target) const {
        if (quantized_ == nullptr) return own(path_in_layer(target) + ".weight");
        return quantized_->plain_matrix(bytes_, layer_, target).to(at::kFloat);
    }

    /// A module of kLoraTargets, with its adapter.
    at::Tensor dense(const at::Tensor& x, size_t target) const {
        const std::string module = path_in_layer(target);
        at::Tensor y = at::matmul(x, matrix(target).t());
        if (const at::Tensor bias = own(module + ".bias"); bias.defined()) y = y + bias;
        if (adapter_ == nullptr) return y;
        const std::string name = "base_model.model.model.layers." + std::to_string(layer_) + "." + module;
        const at::Tensor a = adapter_->of(name + ".lora_A.weight");
        if (!a.defined()) return y;
        const at::Tensor kept = lora_->dropout_factors(layer_, target, tokens_.places_n, x.size(1));
        const at::Tensor dropped = kept.defined() ? x * kept : x;
        return y + at::matmul(at::matmul(dropped, a.t()), adapter_->of(name + ".lora_B.weight").t()) *
                       lora_->scale();
    }

    /// Su et al. 2021: the halves of a head turn by the position's angles.
    at::Tensor rotated(const at::Tensor& x_nw, const std::string& norm_name) const {
        at::Tensor x = x_nw.view({x_nw.size(0), -1, m_.head_dim});
        if (m_.qk_norm != QkNorm::None) x = norm(x, own(norm_name), m_.rms_norm_eps);
        const std::vector<at::Tensor> halves = x.chunk(2, 2);
        const at::Tensor cos = tokens_.cos_nd.unsqueeze(1), sin = tokens_.sin_nd.unsqueeze(1);
        return at::cat({halves[0] * cos - halves[1] * sin, halves[1] * cos + halves[0] * sin}, 2).flatten(1);
    }

    const ModelConfig& m_;
    QuantizedBase* quantized_;
    const Adapter* lora_;
    int layer_;
    const UnitWeights& weights_;
    const UnitWeights* adapter_;
    const Tokens& tokens_;
    const at::Tensor bytes_;  ///< of the layer's quantised matrices
};

// ------------------------------------------------------------------------------------------ the model

class PlainModel {
  public:
    PlainModel(const ModelConfig& model, TrainedModel& trained, Groups& groups, const Tokens& tokens,
               double scale)
        : model_(model),
          trained_(trained),
          groups_(groups),
          tokens_(tokens),
          scale_(scale),
          sums_(trained.trained().make_flat(trained.trained().gradients().sharded, at::kFloat,
                                            groups.device())) {}

    PlainGradients learn(const PlainProbe& probe) {
        std::vector<at::Tensor> inputs = {embedded()};
        for (int layer = 0; layer < layers(); ++layer) inputs.push_back(forward(layer, inputs.back()));
        at::Tensor dx_nc = head(inputs.back());
        for (int layer = layers() - 1; layer >= 0; --layer) {
            inputs.pop_back();
            dx_nc = backward(layer, inputs.back(), dx_nc, probe);
        }
        if (!trained_.adapter) {
            if (!of_embedding_.defined()) of_embedding_ = zeros_of_unit(trained_.weights, 0);
            if (tokens_.count() > 0) {
                at::Tensor table = trained_.weights.view(of_embedding_, 0);
                table.index_add_(0, tokens_.ids_n, dx_nc);
            }
            keep(0, of_embedding_);
        }
        return {loss_sum_, sums_};
    }

  private:
    int layers() const { return static_cast<int>(model_.num_layers); }

    at::Tensor zeros_of_unit(Parameters& parameters, int unit) const {
        const int64_t ranks = parameters.stage() > 0 ? parameters.sharding_groups()->shard().size() : 1;
        return at::zeros({ranks * parameters.own_slice(parameters.master(), unit).size(0)},
                         at::TensorOptions().dtype(at::kFloat).device(groups_.device()));
    }

    /// A unit's gradients, summed over all ranks.
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
        const UnitWeights weights(trained_.weights, 0, false);
        return weights.of("model.embed_tokens.weight").index_select(0, tokens_.ids_n);
    }

    /// Undefined if no weights are quantised.
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
        return layer.after_attention(x_nc, attention_forward(model_, layer.before_attention(x_nc), tokens_));
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
            attention_forward(model_, qkv_nw.detach(), tokens_).set_requires_grad(true);
        const at::Tensor y_nc = layer.after_attention(x_nc, heads_nw);
        const auto after = gradients_of(y_nc, dy_nc, {x_nc, heads_nw, learned});
        const at::Tensor dqkv_nw = attention_backward(model_, qkv_nw.detach(), after[1], tokens_);
        probe(index, dqkv_nw);
        const auto before = gradients_of(qkv_nw, dqkv_nw, {x_nc, learned});
        keep(unit, (after[2] + before[1]).detach());
        return (after[0] + before[0]).detach();
    }

    /// Loss and the gradients of norm and head, a few tokens at a time. Returns the gradient of x_nc.
    at::Tensor head(const at::Tensor& x_nc) {
        Parameters& all = trained_.weights;
        const bool learns = !trained_.adapter, tied = model_.tie_word_embeddings;
        const UnitWeights last(all, all.head_unit(), learns);
        std::optional<UnitWeights> embedding;
        if (tied) embedding.emplace(all, 0, learns);
        at::Tensor of_head = at::zeros_like(last.values());
        if (tied && learns) of_embedding_ = at::zeros_like(embedding->values());
        at::Tensor dx_nc = at::zeros_like(x_nc);
        const at::Tensor labelled = at::nonzero(tokens_.labels_n.ne(kNoLabel)).squeeze(1);
        for (const at::Tensor& some : labelled.split(kLabelsAtOnce)) {
            if (some.size(0) == 0) break;
            const c10::AutoGradMode with_gradients(true);
            const at::Tensor x = x_nc.index_select(0, some).detach().set_requires_grad(true);
            const at::Tensor normed = norm(x, last.of("model.norm.weight"), model_.rms_norm_eps);
            const at::Tensor table =
                tied ? embedding->of("model.embed_tokens.weight") : last.of("lm_head.weight");
            const at::Tensor logits = at::matmul(normed, table.t()).to(at::kDouble);
            const at::Tensor labels = tokens_.labels_n.index_select(0, some).unsqueeze(1);
            const at::Tensor loss = at::log_softmax(logits, 1).gather(1, labels).sum().neg();
            loss_sum_ += loss.item<double>();
            std::vector<at::Tensor> by = {x};
            if (learns) by.push_back(last.values());
            if (learns && tied) by.push_back(embedding->values());
            const auto d = gradients_of(loss, at::full_like(loss, scale_), by);
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
    Flat sums_;
    double loss_sum_ = 0;
    at::Tensor of_embedding_;  ///< what the head adds to tied weights
};

}  // namespace

at::Tensor weights_from_their_holders(Parameters& parameters, int unit) {
    const at::Tensor own = parameters.own_slice(parameters.master(), unit);
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
                               const PlainProbe& probe) {
    const Tokens tokens = tokens_of(model, documents, groups.device());
    return PlainModel(model, trained, groups, tokens, scale).learn(probe);
}

}  // namespace ringmaster
