#include "engine/check/plain_layer.h"

#include <ATen/ATen.h>

#include <cmath>

#include "engine/check/plain_recurrence.h"

namespace ringmaster {

namespace {

/// Computes one layer with autograd.
class Layer {
  public:
    explicit Layer(const PlainLayer& layer)
        : m_(layer.model),
          quantized_(layer.trained.quantized_or_null()),
          lora_(layer.trained.adapter ? &*layer.trained.adapter : nullptr),
          layer_(layer.index),
          weights_(layer.weights),
          adapter_(layer.adapter),
          tokens_(layer.tokens),
          bytes_(layer.bytes),
          borrowed_nw_(layer.borrowed_nw),
          input_np_(layer.input_np) {}

    at::Tensor before_attention(const at::Tensor& x_nc) const {
        const at::Tensor read = input(x_nc, "input_layernorm");
        if (kind().is_recurrent) return rule_inputs(read);
        const int64_t H = m_.num_heads, K = m_.num_kv_heads, D = m_.head_dim;
        at::Tensor all = m_.latent.on() ? latent_heads(read) : queries_keys_values(read);
        if (m_.qkv_by_heads) all = all.view({-1, H, 3, D}).transpose(1, 2).flatten(1);
        const at::Tensor q = scaled(placed(all.narrow(1, 0, H * D), "self_attn.q_norm"));
        if (borrowed_nw_.defined()) return at::cat({q, borrowed_nw_}, 1);
        const at::Tensor keys = all.narrow(1, H * D, K * D), k = placed(keys, "self_attn.k_norm");
        const at::Tensor v = m_.values_are_keys ? keys : all.narrow(1, (H + K) * D, K * D);
        const at::Tensor values = m_.norms_values ? normed_heads(v) : v;
        return m_.has_attention_and_recurrence() ? at::cat({q, k, values, rule_inputs(read)}, 1)
                                                 : at::cat({q, k, values}, 1);
    }

    PlainMixture after_attention(const at::Tensor& x_nc, const at::Tensor& heads_nw) const {
        const at::Tensor mid = kind().lacks_mixer ? x_nc : x_nc + attended_and_recurred(x_nc, heads_nw);
        if (kind().lacks_mlp) return {m_.layer_scalars ? mid * weights_.layer_scalar(layer_) : mid, {}, {}};
        const bool shares_norm = m_.parallel_blocks && !m_.parallel_norms;
        PlainMixture mlp =
            m_.has_experts(kind()) && m_.experts_beside_mlp
                ? mlp_beside_experts(mid)
                : feed_forward(input(m_.parallel_blocks ? x_nc : mid,
                                     shares_norm ? "input_layernorm" : "post_attention_layernorm"));
        mlp.y_nc = with_input(mid + output(mlp.y_nc, "mlp_output_norm", m_.mlp_multiplier));
        if (m_.layer_scalars) mlp.y_nc = mlp.y_nc * weights_.layer_scalar(layer_);
        return mlp;
    }

  private:
    LayerKind kind() const { return m_.layer_kind(layer_); }

    /// Adds the gated product of the layer's additional input (see engine/model/layer_inputs.h).
    at::Tensor with_input(const at::Tensor& y_nc) const {
        if (!input_np_.defined()) return y_nc;
        const at::Tensor both = at::cat({dense(y_nc, LoraSite::LayerGate), input_np_}, 1);
        return y_nc + output(dense(plain_gate(both, m_.gate), LoraSite::LayerOutput),
                             "post_per_layer_input_norm", 1);
    }

    at::Tensor own(const std::string& name) const {
        return weights_.of("model.layers." + std::to_string(layer_) + "." + name);
    }

    DeltaWeights delta() const {
        const std::string name = "linear_attn.";
        return {own(name + "conv1d.weight"), own(name + "dt_bias"),     own(name + "A_log"),
                own(name + "norm.weight"),   own(name + "conv1d.bias"), own(name + "D")};
    }

    /// Computes the matrices and norms between a Mamba-1 layer's convolution and its scan.
    at::Tensor scan_inputs(const at::Tensor& read) const {
        const int64_t rank = m_.delta.state_space.step_rank, K = m_.delta.keys();
        const at::Tensor channels =
            plain_channels(m_.delta, delta(), dense(read, LoraSite::DeltaIn), tokens_.documents);
        const at::Tensor selected = dense(channels, LoraSite::SelectIn);
        const auto part = [&](int64_t first, int64_t width, const char* name) {
            return plain_norm(m_, selected.narrow(1, first, width),
                              own("linear_attn." + std::string(name) + ".weight"), {}, m_.rms_norm_eps);
        };
        return plain_scan_inputs(delta(), channels,
                                 {dense(part(0, rank, "dt_layernorm"), LoraSite::Steps),
                                  part(rank, K, "b_layernorm"), part(rank + K, K, "c_layernorm")});
    }

    at::Tensor rule_inputs(const at::Tensor& read) const {
        if (m_.delta.scans()) return scan_inputs(read);
        return plain_rule_inputs(m_.delta, delta(), dense(read, LoraSite::DeltaIn), tokens_.documents);
    }

    /// Returns the queries (`part` 0) or the gates (1), which q_proj returns head by head.
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

    /// Returns queries, keys and values by equations 37 to 45 of arXiv 2405.04434. The rotated part of each
    /// head comes first, and zeros fill it up to head_dim.
    at::Tensor latent_heads(const at::Tensor& read) const {
        const LatentSizes& s = m_.latent;
        const int64_t N = read.size(0), H = m_.num_heads, P = s.plain_width, R = s.rotary_width;
        const at::Tensor latents = dense(read, LoraSite::LatentIn);
        const auto normed_part = [&](int64_t first, int64_t width, const char* name) {
            return plain_norm(m_, latents.narrow(1, first, width), own(std::string(name) + ".weight"), {},
                              s.norm_eps);
        };
        const at::Tensor q =
            (s.query_rank == 0
                 ? dense(read, LoraSite::Qkv)
                 : dense(normed_part(0, s.query_rank, "self_attn.q_a_layernorm"), LoraSite::QueryUp))
                .view({N, H, P + R});
        const at::Tensor kv =
            dense(normed_part(s.query_rank, s.rank, "self_attn.kv_a_layernorm"), LoraSite::KeyValueUp)
                .view({N, H, P + s.value_width});
        const at::Tensor shared = latents.narrow(1, s.query_rank + s.rank, R).unsqueeze(1).expand({N, H, R});
        const auto filled = [&](const at::Tensor& x) {
            return at::constant_pad_nd(x, {0, m_.head_dim - x.size(2)}).flatten(1);
        };
        return at::cat(
            {filled(at::cat({q.narrow(2, P, R), q.narrow(2, 0, P)}, 2)),
             filled(at::cat({shared, kv.narrow(2, 0, P)}, 2)), filled(kv.narrow(2, P, s.value_width))},
            1);
    }

    /// Returns what attention and the recurrence add to x_nc, given the outputs of their heads.
    at::Tensor attended_and_recurred(const at::Tensor& x_nc, const at::Tensor& heads_nw) const {
        const auto recurred = [&](const at::Tensor& heads) {
            return output(recurrence(x_nc, heads), "attention_output_norm", m_.delta.state_space.output);
        };
        if (kind().is_recurrent) return recurred(heads_nw);
        const int64_t width = m_.num_heads * m_.head_dim, rest = heads_nw.size(1) - width;
        const at::Tensor attended = output(mixed(x_nc, heads_nw.narrow(1, 0, width)), "attention_output_norm",
                                           m_.attention_multiplier);
        return rest > 0 ? attended + recurred(heads_nw.narrow(1, width, rest)) : attended;
    }

    at::Tensor recurrence(const at::Tensor& x_nc, const at::Tensor& heads_nw) const {
        const at::Tensor projected = dense(input(x_nc, "input_layernorm"), LoraSite::DeltaIn);
        return dense(plain_gated(m_.delta, delta(), m_.rms_norm_eps, projected, heads_nw),
                     LoraSite::DeltaOutput);
    }

    /// Returns attention's output, given that of its heads.
    at::Tensor mixed(const at::Tensor& x_nc, const at::Tensor& heads_nw) const {
        if (!m_.gates_attention)
            return dense(heads_nw.reshape({heads_nw.size(0), m_.num_heads, -1})
                             .narrow(2, 0, m_.value_width())
                             .flatten(1),
                         LoraSite::Output);
        const at::Tensor read = input(x_nc, "input_layernorm");
        return dense(heads_nw * at::sigmoid(queries_or_gates(dense(read, LoraSite::Qkv), 1)),
                     LoraSite::Output);
    }

    PlainExperts all_experts() const {
        return {.router_ec = own("mlp.gate.weight"),
                .gate_up_exc = experts(Role::ExpertGateUp),
                .down_eci = experts(Role::ExpertDown),
                .router_bias_e = own("mlp.gate.bias"),
                .gate_up_bias_ex = own("mlp.experts.gate_up_proj_bias"),
                .down_bias_ec = own("mlp.experts.down_proj_bias"),
                .scales_e = own("router.per_expert_scale"),
                .correction_e = weights_.router_correction(layer_)};
    }

    PlainMixture mlp_beside_experts(const at::Tensor& x) const {
        PlainExperts all = all_experts();
        const at::Tensor routed = plain_norm(m_, x, own("router.scale"), {}, m_.rms_norm_eps) /
                                  std::sqrt(static_cast<double>(m_.hidden_size));
        all.logits_ne = dense(routed, LoraSite::Router);
        PlainMixture mixture = plain_mixture(m_, all, normed(x, "experts_norm"));
        const at::Tensor of_mlp =
            mlp(normed(x, "post_attention_layernorm"), LoraSite::GateUp, LoraSite::Down);
        mixture.y_nc = normed(of_mlp, "mlp_part_norm") + normed(mixture.y_nc, "experts_part_norm");
        return mixture;
    }

    PlainMixture feed_forward(const at::Tensor& read) const {
        if (!m_.has_experts(kind())) return {mlp(read, LoraSite::GateUp, LoraSite::Down), {}, {}};
        PlainExperts all = all_experts();
        const bool has_latent = m_.expert_latent_size > 0;
        if (has_latent) all.logits_ne = at::matmul(read, all.router_ec.t());
        PlainMixture mixture = plain_mixture(m_, all, has_latent ? dense(read, LoraSite::ExpertsIn) : read);
        if (has_latent) mixture.y_nc = dense(mixture.y_nc, LoraSite::ExpertsOut);
        if (m_.shared_expert_intermediate_size == 0) return mixture;
        const at::Tensor shared = mlp(read, LoraSite::SharedGateUp, LoraSite::SharedDown);
        mixture.y_nc =
            mixture.y_nc +
            (m_.gates_shared_expert ? at::sigmoid(dense(read, LoraSite::SharedGate)) * shared : shared);
        return mixture;
    }

    /// Returns the matrices of all experts, including an adapter's scale · B·A.
    at::Tensor experts(Role role) const {
        const std::string name = kExpertParameters[role == Role::ExpertDown ? 1 : 0];
        at::Tensor weight_eoi = quantized_ != nullptr && quantized_->holds_experts()
                                    ? quantized_->plain_experts(bytes_, layer_, role).to(at::kFloat)
                                    : own(name);
        if (m_.experts_transposed) weight_eoi = weight_eoi.transpose(1, 2);
        if (adapter_ == nullptr) return weight_eoi;
        const std::string adapted = "base_model.model.model.layers." + std::to_string(layer_) + "." + name;
        const at::Tensor a = adapter_->of(adapted + ".lora_A.weight");
        if (!a.defined()) return weight_eoi;
        const int64_t E = m_.num_experts;
        const at::Tensor b_ore = adapter_->of(adapted + ".lora_B.weight").unflatten(1, {-1, E});
        return weight_eoi + lora_->scale() * at::matmul(b_ore.permute({2, 0, 1}), a.unflatten(0, {E, -1}));
    }

    at::Tensor mlp(const at::Tensor& read, LoraSite gate_up, LoraSite down) const {
        at::Tensor both = dense(read, gate_up);
        if (m_.gate_multiplier != 1) {
            const auto halves = both.chunk(2, 1);
            both = at::cat({halves[0] * m_.gate_multiplier, halves[1]}, 1);
        }
        return dense(plain_gate(both, m_.gate), down);
    }

    at::Tensor normed(const at::Tensor& x, const std::string& name) const {
        return plain_norm(m_, x, own(name + ".weight"), own(name + ".bias"), m_.rms_norm_eps);
    }

    at::Tensor input(const at::Tensor& x, const char* name) const {
        return m_.norms_inputs ? normed(x, name) : x;
    }
    at::Tensor output(const at::Tensor& y, const char* name, double multiplier) const {
        return (m_.norms_outputs ? normed(y, name) : y) * (multiplier * m_.residual_multiplier);
    }

    /// Returns a module's matrix. It is undefined if the model has none, or if an earlier module's matrix
    /// also holds its rows.
    at::Tensor matrix(size_t target) const {
        if (quantized_ == nullptr) return own(module_path(target) + ".weight");
        if (!quantized_->has(layer_, target)) return {};
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

    /// Multiplies queries by factors that grow with their position.
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

    /// Normalises each head; the norm has no weights.
    at::Tensor normed_heads(const at::Tensor& x_nw) const {
        const at::Tensor x = x_nw.view({x_nw.size(0), -1, m_.head_dim});
        return plain_norm(m_, x, at::full({}, m_.norm_adds_one ? 0 : 1, x.options()), {}, m_.rms_norm_eps)
            .flatten(1);
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
    const PlainWeights& weights_;
    const PlainWeights* adapter_;
    const PlainTokens& tokens_;
    const at::Tensor bytes_;  ///< bytes of the layer's quantised matrices
    const at::Tensor borrowed_nw_, input_np_;
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

namespace {

/// Returns the values of a unit, and of the layer's experts if the experts form separate units.
at::Tensor whole_layer(Parameters& parameters, int unit) {
    std::vector<at::Tensor> values = {weights_from_their_holders(parameters, unit)};
    for (const int experts : parameters.expert_units(unit))
        values.push_back(weights_from_their_holders(parameters, experts));
    return at::cat(values).to(at::kFloat);
}

}  // namespace

PlainWeights::PlainWeights(Parameters& parameters, int unit, bool trained)
    : parameters_(parameters), unit_(unit), values_(whole_layer(parameters, unit).detach().clone()) {
    if (trained) values_.set_requires_grad(true);
}

at::Tensor PlainWeights::of(const std::string& name) const {
    const std::vector<int>& experts = parameters_.expert_units(unit_);
    for (size_t i = 0; i < parameters_.shapes().size(); ++i) {
        if (parameters_.shapes()[i].name != name) continue;
        const int unit = parameters_.unit_of(i);
        if (unit == unit_) return parameters_.view(values_, i);
        int64_t begin = parameters_.whole_size(unit_);
        for (const int other : experts) {
            if (other == unit)
                return parameters_.view(values_.narrow(0, begin, parameters_.whole_size(unit)), i);
            begin += parameters_.whole_size(other);
        }
    }
    return {};
}

at::Tensor plain_norm(const ModelConfig& m, const at::Tensor& x, const at::Tensor& weight,
                      const at::Tensor& bias, double eps) {
    const at::Tensor centered = m.layer_norms ? x - x.mean(-1, true) : x;
    const at::Tensor normed = centered * (centered.square().mean(-1, true) + eps).rsqrt();
    const at::Tensor y = normed * (m.norm_adds_one ? 1 + weight : weight);
    return bias.defined() ? y + bias : y;
}

at::Tensor PlainLayer::before_attention(const at::Tensor& x_nc) const {
    return Layer(*this).before_attention(x_nc);
}

PlainMixture PlainLayer::after_attention(const at::Tensor& x_nc, const at::Tensor& heads_nw) const {
    return Layer(*this).after_attention(x_nc, heads_nw);
}

}  // namespace ringmaster
