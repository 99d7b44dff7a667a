// Converts a ModelConfig to JSON and back, with one list of its fields for both directions.
#include <cmath>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "engine/error.h"
#include "engine/families/checked_sizes.h"
#include "engine/families/model_config.h"
#include "engine/json_fields.h"

namespace ringmaster {

using nlohmann::json;

template <class Fields>
void each_field(const Fields& fields, Same<RopeConfig> auto& rope) {
    fields("type", rope.type);
    fields("theta", rope.theta);
    fields("factor", rope.factor);
    fields("rotary_dim", rope.rotary_dim);
    fields("share", rope.share);
    fields("interleaved", rope.interleaved);
    fields("original_max_position_embeddings", rope.original_max_position_embeddings);
    fields("low_freq_factor", rope.low_freq_factor);
    fields("high_freq_factor", rope.high_freq_factor);
    fields("attention_factor", rope.attention_factor);
    fields("beta_fast", rope.beta_fast);
    fields("beta_slow", rope.beta_slow);
    fields("mscale", rope.mscale);
    fields("mscale_all_dim", rope.mscale_all_dim);
    fields("truncate", rope.truncate);
    fields("short_factor", rope.short_factor);
    fields("long_factor", rope.long_factor);
    fields("query_scale_beta", rope.query_scale_beta);
}

template <class Fields>
void each_field(const Fields& fields, Same<LayerKind> auto& kind) {
    fields("window", kind.window);
    fields("rope", kind.rope);
    fields("recurs", kind.is_recurrent);
    fields("dense", kind.dense);
    fields("global", kind.global);
    fields("lacks_mixer", kind.lacks_mixer);
    fields("lacks_mlp", kind.lacks_mlp);
    fields("keys_of", kind.keys_of);
    fields("wide", kind.wide);
}

template <class Fields>
void each_field(const Fields& fields, Same<HeadSizes> auto& heads) {
    fields("head_dim", heads.head_dim);
    fields("kv_heads", heads.kv_heads);
    fields("values_are_keys", heads.values_are_keys);
}

template <class Fields>
void each_field(const Fields& fields, Same<StateSpace> auto& space) {
    fields("on", space.on);
    fields("beside_attention", space.beside_attention);
    fields("convolution_bias", space.convolution_bias);
    fields("norm_groups", space.norm_groups);
    fields("norm_before_gate", space.norm_before_gate);
    fields("least_step", space.least_step);
    fields("most_step", space.most_step);
    fields("gates", space.gates);
    fields("values", space.values);
    fields("keys", space.keys);
    fields("queries", space.queries);
    fields("steps", space.steps);
    fields("output", space.output);
    fields("step_rank", space.step_rank);
}

template <class Fields>
void each_field(const Fields& fields, Same<DeltaSizes> auto& delta) {
    fields("key_heads", delta.key_heads);
    fields("value_heads", delta.value_heads);
    fields("key_width", delta.key_width);
    fields("value_width", delta.value_width);
    fields("taps", delta.taps);
    fields("by_key_head", delta.by_key_head);
    fields("convolved", delta.convolved);
    fields("state_space", delta.state_space);
}

template <class Fields>
void each_field(const Fields& fields, Same<RouterRule> auto& router) {
    fields("sigmoid", router.sigmoid);
    fields("corrects", router.corrects);
    fields("in_float32", router.in_float32);
    fields("groups", router.groups);
    fields("chosen_groups", router.chosen_groups);
    fields("best_of_group", router.best_of_group);
    fields("scale", router.scale);
    fields("norms_input", router.norms_input);
    fields("scales_experts", router.scales_experts);
    fields("has_loss", router.has_loss);
}

template <class Fields>
void each_field(const Fields& fields, Same<LatentSizes> auto& latent) {
    fields("query_rank", latent.query_rank);
    fields("rank", latent.rank);
    fields("rotary_width", latent.rotary_width);
    fields("plain_width", latent.plain_width);
    fields("value_width", latent.value_width);
    fields("norm_eps", latent.norm_eps);
}

template <class Fields>
void each_field(const Fields& fields, Same<Quantization> auto& quantization) {
    fields("format", quantization.format);
    fields("block", quantization.block);
    fields("nested", quantization.nested);
    fields("stored", quantization.stored);
}

template <class Fields>
void each_field(const Fields& fields, Same<ModelConfig> auto& m) {
    fields("model_type", m.model_type);
    fields("hidden_size", m.hidden_size);
    fields("num_layers", m.num_layers);
    fields("num_heads", m.num_heads);
    fields("num_kv_heads", m.num_kv_heads);
    fields("head_dim", m.head_dim);
    fields("intermediate_size", m.intermediate_size);
    fields("wide_intermediate_size", m.wide_intermediate_size);
    fields("vocab_size", m.vocab_size);
    fields("max_position_embeddings", m.max_position_embeddings);
    fields("padding_token", m.padding_token);
    fields("rms_norm_eps", m.rms_norm_eps);
    fields("initializer_range", m.initializer_range);
    fields("tie_word_embeddings", m.tie_word_embeddings);
    fields("num_labels", m.num_labels);
    fields("qkv_bias", m.qkv_bias);
    fields("output_bias", m.output_bias);
    fields("mlp_bias", m.mlp_bias);
    fields("head_bias", m.head_bias);
    fields("qk_norm", m.qk_norm);
    fields("qk_norm_after_rotary", m.qk_norm_after_rotary);
    fields("norms_values", m.norms_values);
    fields("values_are_keys", m.values_are_keys);
    fields("global_heads", m.global_heads);
    fields("borrows_keys", m.borrows_keys);
    fields("layer_input_width", m.layer_input_width);
    fields("layer_inputs_width", m.layer_inputs_width);
    fields("layer_inputs_vocabulary", m.layer_inputs_vocabulary);
    fields("layer_scalars", m.layer_scalars);
    fields("attention_sinks", m.attention_sinks);
    fields("layer_norms", m.layer_norms);
    fields("norm_biases", m.norm_biases);
    fields("norm_adds_one", m.norm_adds_one);
    fields("norms_inputs", m.norms_inputs);
    fields("norms_outputs", m.norms_outputs);
    fields("parallel_blocks", m.parallel_blocks);
    fields("qkv_by_heads", m.qkv_by_heads);
    fields("parallel_norms", m.parallel_norms);
    fields("activation", m.gate.activation);
    fields("gated_mlp", m.gate.gated);
    fields("gate_limit", m.gate.limit);
    fields("gate_slope", m.gate.slope);
    fields("gates_attention", m.gates_attention);
    fields("delta", m.delta);
    fields("latent", m.latent);
    fields("attention_scale", m.attention_scale);
    fields("score_softcap", m.score_softcap);
    fields("logit_softcap", m.logit_softcap);
    fields("embedding_multiplier", m.embedding_multiplier);
    fields("rounds_embedding_multiplier", m.rounds_embedding_multiplier);
    fields("residual_multiplier", m.residual_multiplier);
    fields("attention_multiplier", m.attention_multiplier);
    fields("gate_multiplier", m.gate_multiplier);
    fields("mlp_multiplier", m.mlp_multiplier);
    fields("logit_multiplier", m.logit_multiplier);
    fields("sliding_window", m.sliding_window);
    fields("ropes", m.ropes);
    fields("layers", m.layers);
    fields("num_experts", m.num_experts);
    fields("experts_per_token", m.experts_per_token);
    fields("expert_intermediate_size", m.expert_intermediate_size);
    fields("expert_latent_size", m.expert_latent_size);
    fields("shared_expert_intermediate_size", m.shared_expert_intermediate_size);
    fields("gates_shared_expert", m.gates_shared_expert);
    fields("norms_expert_weights", m.norms_expert_weights);
    fields("expert_biases", m.expert_biases);
    fields("experts_beside_mlp", m.experts_beside_mlp);
    fields("experts_transposed", m.experts_transposed);
    fields("router", m.router);
    fields("adds_router_loss", m.adds_router_loss);
    fields("router_loss_coefficient", m.router_loss_coefficient);
    fields("quantization", m.quantization);
    fields("weight_prefix", m.weight_prefix);
    fields("obstacles", m.obstacles);
}

namespace {

class Reader {
  public:
    Reader(const json& values, const std::string& where) : values_(values), where_(where) {
        if (!values.is_object()) refuse("is not an object");
    }

    template <class T>
    void operator()(const char* name, T& value) const {
        const auto found = values_.find(name);
        if (found != values_.end()) read(name, *found, value);
    }

  private:
    [[noreturn]] void refuse(const std::string& what) const {
        throw Error(Failure::Refused, Code("MODEL-CONFIG"), what, where_);
    }
    void expect(bool fits, const char* name) const {
        if (!fits) refuse("'" + std::string(name) + "' is of another type or out of range");
    }

    void read(const char* name, const json& from, bool& value) const {
        expect(from.is_boolean(), name);
        value = from.get<bool>();
    }
    void read(const char* name, const json& from, std::string& value) const {
        expect(from.is_string(), name);
        value = from.get<std::string>();
    }
    void read(const char* name, const json& from, double& value) const {
        expect(from.is_number() && std::isfinite(from.get<double>()), name);
        value = from.get<double>();
    }
    template <class T>
    requires std::is_integral_v<T> || std::is_enum_v<T>
    void read(const char* name, const json& from, T& value) const {
        const double most = std::is_enum_v<T> ? 7 : std::is_same_v<T, int> ? 64 : 1e12;
        expect(from.is_number_integer() && from.get<double>() >= -1 && from.get<double>() <= most, name);
        value = static_cast<T>(from.get<int64_t>());
    }
    template <class T>
    void read(const char* name, const json& from, std::optional<T>& value) const {
        value.reset();
        if (!from.is_null()) read(name, from, value.emplace());
    }
    template <class T>
    void read(const char* name, const json& from, std::vector<T>& values) const {
        expect(from.is_array() && from.size() <= 100'000, name);
        values.clear();
        for (const json& item : from) read(name, item, values.emplace_back());
    }
    template <class T>
    requires std::is_class_v<T>
    void read(const char* name, const json& from, T& value) const {
        each_field(Reader(from, where_ + ": " + name), value);
    }

    const json& values_;
    std::string where_;
};

/// Checks layers that read an earlier layer's keys, wide MLPs, and the inputs of layers.
template <class Expect>
void check_layer_inputs(const ModelConfig& m, const Expect& expect) {
    for (size_t layer = 0; layer < m.layers.size(); ++layer) {
        const LayerKind& kind = m.layers[layer];
        expect(!kind.wide || m.wide_intermediate_size > 0, "a layer of 'layers' has an MLP without width");
        if (kind.keys_of < 0) continue;
        expect(kind.keys_of < static_cast<int64_t>(layer),
               "a layer of 'layers' reads keys of none before it");
        const LayerKind& lender = m.layers[static_cast<size_t>(kind.keys_of)];
        expect(lender.attends() && kind.attends() && lender.keys_of < 0 && lender.global == kind.global,
               "a layer of 'layers' reads keys of a layer that has none like it");
    }
    expect(m.layer_input_width == 0 || (m.layer_input_width > 0 && m.layer_inputs_vocabulary > 0 &&
                                        m.layer_inputs_width == m.layer_input_width * m.num_layers),
           "its layers' inputs are no decoder's");
}

/// Checks a record that was read from a file, so that code that uses it never indexes out of range.
void check(const ModelConfig& m, const std::string& where) {
    const auto expect = [&](bool fits, const char* what) {
        if (!fits) throw Error(Failure::Refused, Code("MODEL-CONFIG"), what, where);
    };
    expect(m.hidden_size > 0 && m.num_layers > 0 && m.num_heads > 0 && m.num_kv_heads > 0 && m.head_dim > 0 &&
               m.vocab_size > 0 && m.num_layers <= kMostLayers && m.num_heads % m.num_kv_heads == 0,
           "its sizes are no decoder's");
    expect(!m.ropes.empty(), "'ropes' is empty");
    expect(m.layers.empty() || m.layers.size() == static_cast<size_t>(m.num_layers),
           "'layers' does not have an entry a layer");
    for (const LayerKind& kind : m.layers)
        expect(kind.rope < static_cast<int>(m.ropes.size()) &&
                   (!kind.global || (m.global_heads.head_dim > 0 && m.global_heads.kv_heads > 0 &&
                                     m.num_heads % m.global_heads.kv_heads == 0)),
               "'layers' names a rope or heads that there are not");
    for (const LayerKind& kind : m.layers)
        expect(!kind.lacks_mixer || (!kind.lacks_mlp && !kind.is_recurrent),
               "a layer of 'layers' has no block");
    check_layer_inputs(m, expect);
    expect(m.num_experts == 0 || (m.experts_per_token > 0 && m.experts_per_token <= m.num_experts &&
                                  m.expert_intermediate_size > 0 && m.shared_expert_intermediate_size >= 0 &&
                                  m.expert_latent_size >= 0),
           "its experts' sizes are no decoder's");
    const RouterRule& router = m.router;
    expect(m.num_experts == 0 ||
               (router.groups > 0 && m.num_experts % router.groups == 0 && router.best_of_group > 0 &&
                router.best_of_group <= m.num_experts / router.groups && router.chosen_groups > 0 &&
                router.chosen_groups <= router.groups &&
                m.experts_per_token <= router.chosen_groups * (m.num_experts / router.groups)),
           "its router's groups are no decoder's");
    const LatentSizes& latent = m.latent;
    expect(!latent.on() || (latent.query_rank >= 0 && latent.rotary_width > 0 && latent.plain_width > 0 &&
                            latent.value_width > 0 && latent.key_width() <= m.head_dim &&
                            latent.value_width <= m.head_dim),
           "its latents' sizes are no decoder's");
    const DeltaSizes& d = m.delta;
    const bool has_rule = d.key_heads > 0 && d.value_heads > 0 && d.key_width > 0 && d.value_width > 0 &&
                          d.value_heads % d.key_heads == 0 && d.convolved == 0;
    const bool convolves = d.convolved == m.hidden_size && d.by_key_head && d.key_heads == 0 &&
                           d.value_heads == 0 && d.key_width == 0 && d.value_width == 0;
    const int64_t groups = d.state_space.norm_groups;
    expect(!d.state_space.on ||
               (has_rule && !d.by_key_head && groups >= 0 && (groups == 0 || d.values() % groups == 0)),
           "its state space's sizes are no decoder's");
    expect(d.state_space.step_rank == 0 || (d.state_space.on && d.state_space.step_rank > 0 && groups == 0 &&
                                            d.key_heads == 1 && d.value_width == 1),
           "its state space's sizes are no decoder's");
    expect(!m.has_recurrent_layers() || (d.taps > 0 && (has_rule || convolves)),
           "its recurrence's sizes are no decoder's");
    refuse_absurd_size(m, where);
}

}  // namespace

json model_config_to_json(const ModelConfig& model) {
    return fields_to_json(model);
}

ModelConfig model_config_from_record(const json& values, const std::string& where) {
    if (values.is_object() && values.contains("num_hidden_layers"))
        return model_config_from_json(values, where);  // plans of version 1.0 contained a config.json
    ModelConfig model;
    each_field(Reader(values, where), model);
    check(model, where);
    return model;
}

}  // namespace ringmaster
