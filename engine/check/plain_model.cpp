#include "engine/check/plain_model.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <map>

#include "engine/check/plain_attention.h"
#include "engine/check/plain_layer.h"
#include "engine/model/host_arena.h"
#include "engine/model/rope.h"

namespace ringmaster {

namespace {

constexpr int64_t kLabelsAtOnce = 96;
constexpr const char* kPeftPrefix = "base_model.model.";

/// Returns the gradients with respect to each of `by`, given those of `of`; zeros for tensors that `of` does
/// not depend on.
std::vector<at::Tensor> gradients_of(const std::vector<at::Tensor>& of, const std::vector<at::Tensor>& given,
                                     const std::vector<at::Tensor>& by) {
    std::vector<at::Tensor> found = torch::autograd::grad(of, by, given, false, false, true);
    for (size_t i = 0; i < found.size(); ++i) {
        if (!found[i].defined()) found[i] = at::zeros_like(by[i]);
    }
    return found;
}

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

PlainTokens tokens_of(const ModelConfig& model, const std::vector<PlainDocument>& documents,
                      at::Device device) {
    PlainTokens tokens;
    std::vector<int64_t> ids, labels, places, segments;
    for (const auto& [row, longest, padded, first_slot, learns_prompt, by_label] : documents) {
        int64_t slot = first_slot;
        const auto begin = static_cast<int64_t>(ids.size());
        tokens.documents.push_back({begin, begin + row.tokens()});
        tokens.padded.push_back(padded);
        for (size_t i = 0; i < row.input_ids.size(); ++i) {
            ids.push_back(row.input_ids[i]);
            const size_t learned = i + static_cast<size_t>(row.label_shift);
            const bool is_last = learned == row.input_ids.size();
            const int32_t label = is_last ? kNoLabel : row.labels[learned];
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

class PlainModel {
  public:
    PlainModel(const ModelConfig& model, TrainedModel& trained, Groups& groups, const PlainTokens& tokens,
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
        const at::Tensor embedded_nc = inputs[0];
        if (has_layer_inputs())
            layer_inputs_nw_ = layer_inputs(PlainWeights(trained_.weights, 0, false), embedded_nc);
        for (int layer = 0; layer < layers(); ++layer) inputs.push_back(forward(layer, inputs.back()));
        router_gradient_e_ = plain_router_gradient(model_, groups_, mixtures_);
        at::Tensor dx_nc = head(inputs.back());
        for (int layer = layers() - 1; layer >= 0; --layer) {
            inputs.pop_back();
            dx_nc = backward(layer, inputs.back(), dx_nc, probe);
        }
        if (!trained_.trained().is_empty(0)) {
            if (!of_embedding_.defined()) of_embedding_ = zeros_of_unit(trained_.trained(), 0);
            if (has_layer_inputs()) dx_nc = dx_nc + layer_inputs_backward(embedded_nc);
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

    /// Returns float32 zeros with the layout of the gradients, in the memory in which the gradients are kept.
    static Flat like_gradients(Parameters& parameters) {
        const Flat& gradients = parameters.gradients();
        return lies_in_host(gradients.values)
                   ? host_flat(parameters, gradients.sharded, at::kFloat)
                   : parameters.make_flat(gradients.sharded, at::kFloat, parameters.device());
    }

    at::Tensor zeros_of_unit(Parameters& parameters, int unit) const {
        return at::zeros({parameters.whole_size(unit)},
                         at::TensorOptions().dtype(at::kFloat).device(groups_.device()));
    }

    /// Sums the gradients of PlainWeights over all ranks, and keeps this rank's slices.
    void keep(int unit, const at::Tensor& gradients) {
        Parameters& parameters = trained_.trained();
        int64_t begin = parameters.whole_size(unit);
        keep_unit(unit, gradients.narrow(0, 0, begin));
        for (const int experts : parameters.expert_units(unit)) {
            keep_unit(experts, gradients.narrow(0, begin, parameters.whole_size(experts)));
            begin += parameters.whole_size(experts);
        }
    }

    void keep_unit(int unit, at::Tensor gradients) {
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
        const PlainWeights weights(saved ? trained_.trained() : trained_.weights, 0, false);
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

    bool has_layer_inputs() const { return model_.layer_input_width > 0 && tokens_.count() > 0; }

    /// Returns the inputs of all layers, [N, all widths]; see engine/model/layer_inputs.h.
    at::Tensor layer_inputs(const PlainWeights& weights, const at::Tensor& x_nc) const {
        const int64_t P = model_.layer_input_width;
        const at::Tensor projected =
            at::matmul(x_nc, weights.of("model.per_layer_model_projection.weight").t()) /
            std::sqrt(static_cast<double>(model_.hidden_size));
        const at::Tensor normed =
            plain_norm(model_, projected.view({x_nc.size(0), -1, P}),
                       weights.of("model.per_layer_projection_norm.weight"), {}, model_.rms_norm_eps)
                .flatten(1);
        at::Tensor rows = weights.of("model.embed_tokens_per_layer.weight").index_select(0, tokens_.ids_n);
        if (model_.padding_token)
            rows = at::where(tokens_.ids_n.eq(*model_.padding_token).unsqueeze(1), rows.detach(), rows);
        return (normed + rows * std::sqrt(static_cast<double>(P))) / std::sqrt(2.0);
    }

    /// Adds the gradients of the parameters that make the layers' inputs; returns the gradient of the
    /// embedding's output.
    at::Tensor layer_inputs_backward(const at::Tensor& embedded_nc) {
        const bool learns = !trained_.adapter;
        const PlainWeights weights(trained_.weights, 0, learns);
        const c10::AutoGradMode with_gradients(true);
        const at::Tensor x_nc = embedded_nc.detach().set_requires_grad(true);
        std::vector<at::Tensor> by = {x_nc};
        if (learns) by.push_back(weights.values());
        const auto d = gradients_of({layer_inputs(weights, x_nc)}, {dlayer_inputs_nw_}, by);
        if (learns) of_embedding_.add_(d[1].detach());
        return d[0].detach();
    }

    /// Returns a layer's columns of the inputs of all layers or of their gradients.
    at::Tensor columns_of(const at::Tensor& all_nw, int layer) const {
        return all_nw.narrow(1, layer * model_.layer_input_width, model_.layer_input_width);
    }

    /// Sets the tensors that the layer reads besides x_nc.
    void give(PlainLayer& layer) const {
        if (const int64_t lender = layer.kind().keys_of; lender >= 0) layer.borrowed_nw = lent_nw_.at(lender);
        if (has_layer_inputs()) layer.input_np = columns_of(layer_inputs_nw_, layer.index).detach();
    }

    /// Returns the columns of keys and values.
    static at::Tensor keys_values_of(const ModelConfig& model, const at::Tensor& qkv_nw) {
        return qkv_nw.narrow(1, model.num_heads * model.head_dim, 2 * model.num_kv_heads * model.head_dim);
    }

    /// Adds the gradients of keys and values that other layers read.
    void take_keys_back(const PlainLayer& layer, const at::Tensor& dqkv_nw) {
        if (const auto found = dlent_nw_.find(layer.index); found != dlent_nw_.end())
            keys_values_of(layer.model, dqkv_nw).add_(found->second);
    }

    void return_keys(const PlainLayer& layer, const at::Tensor& dqkv_nw) {
        const int64_t lender = layer.kind().keys_of;
        if (lender < 0) return;
        const at::Tensor d_nw = keys_values_of(layer.model, dqkv_nw);
        const auto [sum, is_first] = dlent_nw_.try_emplace(lender, d_nw.clone());
        if (!is_first) sum->second.add_(d_nw);
    }

    /// Returns the unit's bytes; undefined if no weights are quantised.
    at::Tensor quantized_bytes(int unit) {
        return trained_.quantized ? weights_from_their_holders(trained_.quantized->bytes(), unit)
                                  : at::Tensor();
    }

    at::Tensor forward(int index, const at::Tensor& x_nc) {
        const int unit = trained_.weights.unit_of_layer(index);
        const PlainWeights weights(trained_.weights, unit, false);
        std::optional<PlainWeights> adapter;
        if (trained_.adapter) adapter.emplace(trained_.trained(), unit, false);
        const at::Tensor bytes = quantized_bytes(unit);
        if (tokens_.count() == 0) return x_nc;
        const ModelConfig model = model_.of_layer(index);
        PlainLayer layer{model, trained_, index, weights, adapter ? &*adapter : nullptr, tokens_, bytes};
        give(layer);
        at::Tensor heads_nw;
        if (!layer.kind().lacks_mixer) {
            const at::Tensor qkv_nw = layer.before_attention(x_nc);
            if (model_.lends_keys(index)) lent_nw_[index] = keys_values_of(model, qkv_nw).clone();
            heads_nw = plain_attention(model, layer.kind(), qkv_nw, tokens_.documents, layer.learned());
        }
        PlainMixture made = layer.after_attention(x_nc, heads_nw);
        const at::Tensor y_nc = std::move(made.y_nc);
        made.probabilities_ne.reset();
        if (model_.num_experts > 0) mixtures_.push_back(std::move(made));
        return y_nc;
    }

    /// Returns the gradients of the part of a layer after its attention, with respect to each of `by`.
    std::vector<at::Tensor> gradients_after(const PlainLayer& layer, const at::Tensor& x_nc,
                                            const at::Tensor& heads_nw, const at::Tensor& dy_nc,
                                            const std::vector<at::Tensor>& by) const {
        const PlainMixture made = layer.after_attention(x_nc, heads_nw);
        std::vector<at::Tensor> of = {made.y_nc}, given = {dy_nc};
        if (router_gradient_e_.defined() && made.probabilities_ne.defined()) {
            of.push_back(made.probabilities_ne);
            given.push_back(router_gradient_e_.expand_as(made.probabilities_ne));
        }
        return gradients_of(of, given, by);
    }

    /// Returns the gradient of the layer's input.
    at::Tensor backward(int index, const at::Tensor& input_nc, const at::Tensor& dy_nc,
                        const PlainProbe& probe) {
        const int unit = trained_.weights.unit_of_layer(index);
        const PlainWeights weights(trained_.weights, unit, !trained_.adapter);
        std::optional<PlainWeights> adapter;
        if (trained_.adapter) adapter.emplace(trained_.trained(), unit, true);
        const at::Tensor bytes = quantized_bytes(unit);
        const at::Tensor learned = adapter ? adapter->values() : weights.values();
        if (tokens_.count() == 0) {
            keep(unit, at::zeros_like(learned));
            return dy_nc;
        }
        const ModelConfig model = model_.of_layer(index);
        PlainLayer layer{model, trained_, index, weights, adapter ? &*adapter : nullptr, tokens_, bytes};
        give(layer);
        const c10::AutoGradMode with_gradients(true);
        if (layer.input_np.defined()) layer.input_np.set_requires_grad(true);
        const at::Tensor x_nc = input_nc.detach().set_requires_grad(true);
        if (layer.kind().lacks_mixer) {
            const auto d = gradients_after(layer, x_nc, {}, dy_nc, {x_nc, learned});
            keep(unit, d[1].detach());
            return d[0].detach();
        }
        const at::Tensor qkv_nw = layer.before_attention(x_nc);
        const at::Tensor own = layer.learned(), fixed = own.defined() ? own.detach() : own;
        const at::Tensor heads_nw =
            plain_attention(model, layer.kind(), qkv_nw.detach(), tokens_.documents, fixed)
                .set_requires_grad(true);
        std::vector<at::Tensor> by = {x_nc, heads_nw, learned};
        if (layer.input_np.defined()) by.push_back(layer.input_np);
        const auto after = gradients_after(layer, x_nc, heads_nw, dy_nc, by);
        if (layer.input_np.defined()) keep_input_gradient(index, after[3]);
        const auto [dqkv_nw, of_own] = plain_attention_backward(model, layer.kind(), qkv_nw.detach(),
                                                                after[1], tokens_.documents, fixed);
        take_keys_back(layer, dqkv_nw);
        return_keys(layer, dqkv_nw);
        const int64_t of_heads = (model.num_heads + 2 * model.num_kv_heads) * model.head_dim;
        if (layer.kind().attends()) probe(index, dqkv_nw.narrow(1, 0, of_heads).contiguous());
        std::vector<at::Tensor> of = {qkv_nw}, given = {dqkv_nw};
        if (own.defined() && own.requires_grad()) of.push_back(own), given.push_back(of_own);
        const auto before = gradients_of(of, given, {x_nc, learned});
        keep(unit, (after[2] + before[1]).detach());
        return (after[0] + before[0]).detach();
    }

    void keep_input_gradient(int layer, const at::Tensor& gradient_np) {
        if (!dlayer_inputs_nw_.defined()) dlayer_inputs_nw_ = at::zeros_like(layer_inputs_nw_);
        columns_of(dlayer_inputs_nw_, layer).copy_(gradient_np.detach());
    }

    /// Returns each label's weight in the comparison's loss: the derivative of the loss with respect to the
    /// sum of the label's slot. The sums are those of all ranks.
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
        const at::Tensor weights_n = by_sum.reshape({-1}).index_select(0, tokens_.segments_n).neg().detach();
        return comparison_->in_absolute ? weights_n.abs() : weights_n;
    }

    /// Computes loss and gradients of norm and head, a few tokens at a time. Returns the gradient of x_nc.
    at::Tensor head(const at::Tensor& x_nc) {
        Parameters& all = trained_.weights;
        const bool saved = trained_.adapter && !trained_.trained().is_empty(all.head_unit());
        const bool learns = !trained_.adapter || saved, tied = model_.tie_word_embeddings && !saved;
        const PlainWeights last(all, all.head_unit(), !trained_.adapter);
        std::optional<PlainWeights> own;  // the head saved with the adapter
        if (saved) own.emplace(trained_.trained(), all.head_unit(), true);
        const PlainWeights& learned = own ? *own : last;
        std::optional<PlainWeights> embedding;
        if (tied) embedding.emplace(all, 0, learns);
        at::Tensor of_head = at::zeros_like(learned.values());
        if (tied && learns) of_embedding_ = at::zeros_like(embedding->values());
        at::Tensor dx_nc = at::zeros_like(x_nc);
        const at::Tensor labelled = at::nonzero(tokens_.labels_n.ne(kNoLabel)).squeeze(1);
        const auto losses_of = [&](const at::Tensor& x, const at::Tensor& some) {
            const at::Tensor normed = plain_norm(model_, x, last.of("model.norm.weight"),
                                                 last.of("model.norm.bias"), model_.rms_norm_eps);
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
            if (model_.num_labels == 1) return logits.squeeze(1).neg();
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
    const PlainTokens& tokens_;
    const double scale_;
    const EmbeddingNoise* noise_;
    const PlainComparison* comparison_;
    Flat sums_;
    double loss_sum_ = 0;
    /// Holds one mixture per layer; the mixture of a layer without experts has no choice. Empty if no layer
    /// has experts.
    std::vector<PlainMixture> mixtures_;
    at::Tensor router_gradient_e_;
    at::Tensor of_embedding_;  ///< the head's part of the gradient of tied weights
    /// Inputs of all layers, and their gradients; undefined if the model has none.
    at::Tensor layer_inputs_nw_, dlayer_inputs_nw_;
    /// Keys and values that other layers read, and their gradients, by layer.
    std::map<int64_t, at::Tensor> lent_nw_, dlent_nw_;
};

}  // namespace

PlainGradients plain_gradients(const ModelConfig& model, TrainedModel& trained, Groups& groups,
                               const std::vector<PlainDocument>& documents, double scale,
                               const PlainProbe& probe, const EmbeddingNoise* noise,
                               const PlainComparison* comparison) {
    const PlainTokens tokens = tokens_of(model, documents, groups.device());
    return PlainModel(model, trained, groups, tokens, scale, noise, comparison).learn(probe);
}

}  // namespace ringmaster
