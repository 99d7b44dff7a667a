#include <algorithm>
#include <numeric>
#include <string_view>

#include "engine/families/families.h"
#include "engine/families/layer_groups.h"
#include "engine/families/peft_names.h"
#include "engine/families/shape_parts.h"
#include "engine/families/stored_tensors.h"

namespace ringmaster {

namespace {

/// Collects the tensors of one layer, or those outside the layers (layer -1).
class Shapes {
  public:
    Shapes(std::vector<ParameterShape>& shapes, int layer)
        : shapes_(shapes),
          layer_(layer),
          prefix_(layer < 0 ? "" : "model.layers." + std::to_string(layer) + ".") {}

    void weight(Role role, const std::string& name, std::vector<int64_t> shape) {
        add(role, name + ".weight", std::move(shape), true);
    }
    /// Adds a tensor whose name does not end with ".weight".
    void tensor(Role role, const std::string& name, std::vector<int64_t> shape) {
        add(role, name, std::move(shape), true);
    }
    void vector(Role role, const std::string& name, int64_t size, bool decays) {
        add(role, name, {size}, decays);
    }
    void norm(Role role, const std::string& name, int64_t size, bool with_bias) {
        add(role, name + ".weight", {size}, false);
        if (with_bias) bias(Role::NormBias, name, size);
    }
    void bias(Role role, const std::string& name, int64_t size) { add(role, name + ".bias", {size}, false); }
    void biases(Role role, const std::string& name, std::vector<int64_t> shape) {
        add(role, name, std::move(shape), false);
    }

  private:
    void add(Role role, const std::string& name, std::vector<int64_t> shape, bool decays) {
        shapes_.push_back({prefix_ + name, std::move(shape), decays, layer_, role});
    }

    std::vector<ParameterShape>& shapes_;
    int layer_;
    std::string prefix_;
};

void add_query_key_norms(const ModelConfig& m, Shapes& shapes) {
    if (m.qk_norm == QkNorm::None) return;
    const bool whole = m.qk_norm == QkNorm::Whole;
    shapes.norm(Role::QueryNorm, "self_attn.q_norm", (whole ? m.num_heads : 1) * m.head_dim, false);
    if (!m.borrows_keys)
        shapes.norm(Role::KeyNorm, "self_attn.k_norm", (whole ? m.num_kv_heads : 1) * m.head_dim, false);
}

void add_attention(const ModelConfig& m, Shapes& shapes) {
    const std::string attn = "self_attn.";
    const int64_t q = m.num_heads * m.head_dim;
    const int64_t kv = m.num_kv_heads * m.head_dim;
    shapes.weight(Role::Query, attn + "q_proj", {(m.gates_attention ? 2 : 1) * q, m.hidden_size});
    if (!m.borrows_keys) shapes.weight(Role::Key, attn + "k_proj", {kv, m.hidden_size});
    const bool has_values = !m.borrows_keys && !m.values_are_keys;
    if (has_values) shapes.weight(Role::Value, attn + "v_proj", {kv, m.hidden_size});
    if (m.qkv_bias) {
        shapes.bias(Role::QueryBias, attn + "q_proj", (m.gates_attention ? 2 : 1) * q);
        if (!m.borrows_keys) shapes.bias(Role::KeyBias, attn + "k_proj", kv);
        if (has_values) shapes.bias(Role::ValueBias, attn + "v_proj", kv);
    }
    add_query_key_norms(m, shapes);
    if (m.attention_sinks) shapes.vector(Role::Sinks, attn + "sinks", m.num_heads, true);
    shapes.weight(Role::Output, attn + "o_proj", {m.hidden_size, q});
    if (m.output_bias) shapes.bias(Role::OutputBias, attn + "o_proj", m.hidden_size);
}

void add_latent_attention(const ModelConfig& m, Shapes& shapes) {
    const LatentSizes& sizes = m.latent;
    const std::string attn = "self_attn.";
    const int64_t q = m.num_heads * sizes.key_width(), latent = sizes.rank + sizes.rotary_width;
    const bool has_query_latent = sizes.query_rank > 0;
    if (!has_query_latent) shapes.weight(Role::Query, attn + "q_proj", {q, m.hidden_size});
    if (has_query_latent) shapes.weight(Role::Latent, attn + "q_a_proj", {sizes.query_rank, m.hidden_size});
    shapes.weight(Role::Latent, attn + "kv_a_proj_with_mqa", {latent, m.hidden_size});
    if (m.qkv_bias && has_query_latent) shapes.bias(Role::Latent, attn + "q_a_proj", sizes.query_rank);
    if (m.qkv_bias) shapes.bias(Role::Latent, attn + "kv_a_proj_with_mqa", latent);
    if (has_query_latent) shapes.norm(Role::Latent, attn + "q_a_layernorm", sizes.query_rank, false);
    shapes.norm(Role::Latent, attn + "kv_a_layernorm", sizes.rank, false);
    if (has_query_latent) shapes.weight(Role::Latent, attn + "q_b_proj", {q, sizes.query_rank});
    shapes.weight(Role::Latent, attn + "kv_b_proj",
                  {m.num_heads * (sizes.plain_width + sizes.value_width), sizes.rank});
    shapes.weight(Role::Output, attn + "o_proj", {m.hidden_size, m.num_heads * sizes.value_width});
    if (m.output_bias) shapes.bias(Role::OutputBias, attn + "o_proj", m.hidden_size);
}

void add_recurrence(const ModelConfig& m, Shapes& shapes) {
    const DeltaSizes& d = m.delta;
    const std::string delta = "linear_attn.";
    const auto matrix = [&](const char* name, int64_t outputs, int64_t inputs) {
        shapes.weight(Role::Recurrence, delta + name, {outputs, inputs});
    };
    if (d.joined() > 0) {
        matrix("in_proj_qkvz", d.joined(), m.hidden_size);
        if (d.joined_numbers() > 0) matrix("in_proj_ba", d.joined_numbers(), m.hidden_size);
    } else {
        matrix("in_proj_qkv", d.channels(), m.hidden_size);
        matrix("in_proj_z", d.values(), m.hidden_size);
        matrix("in_proj_b", d.value_heads, m.hidden_size);
        matrix("in_proj_a", d.value_heads, m.hidden_size);
    }
    shapes.weight(Role::Recurrence, delta + "conv1d", {d.channels(), 1, d.taps});
    if (d.state_space.convolution_bias) shapes.bias(Role::Recurrence, delta + "conv1d", d.channels());
    if (d.scans()) {
        matrix("x_proj", d.selected(), d.values());
        matrix("dt_proj", d.values(), d.state_space.step_rank);
        shapes.bias(Role::Recurrence, delta + "dt_proj", d.values());
        shapes.norm(Role::Recurrence, delta + "dt_layernorm", d.state_space.step_rank, false);
        shapes.norm(Role::Recurrence, delta + "b_layernorm", d.keys(), false);
        shapes.norm(Role::Recurrence, delta + "c_layernorm", d.keys(), false);
        shapes.tensor(Role::Recurrence, delta + "A_log", {d.values(), d.keys()});
        shapes.vector(Role::Recurrence, delta + "D", d.values(), true);
    } else if (d.convolved == 0) {
        shapes.vector(Role::Recurrence, delta + "dt_bias", d.value_heads, false);
        shapes.vector(Role::Recurrence, delta + "A_log", d.value_heads, true);
        if (d.state_space.on) shapes.vector(Role::Recurrence, delta + "D", d.value_heads, true);
        const int64_t normed = !d.state_space.on               ? d.value_width
                               : d.state_space.norm_groups > 0 ? d.values()
                                                               : 0;
        if (normed > 0) shapes.norm(Role::Recurrence, delta + "norm", normed, false);
    }
    matrix("out_proj", m.hidden_size, d.values());
}

/// Adds tensors with the names of transformers 5, which puts all experts of a layer in one tensor.
void add_experts(const ModelConfig& m, Shapes& shapes) {
    const int64_t expert = m.expert_intermediate_size, shared = m.shared_expert_intermediate_size;
    const auto matrices = [&](Role role, Role of_bias, const std::string& name, int64_t outputs,
                              int64_t inputs) {
        const int64_t first = m.experts_transposed ? inputs : outputs;
        shapes.tensor(role, name, {m.num_experts, first, outputs + inputs - first});
        if (m.expert_biases) shapes.biases(of_bias, name + "_bias", {m.num_experts, outputs});
    };
    if (m.router.norms_input) shapes.vector(Role::RouterNorm, "router.scale", m.hidden_size, true);
    if (m.router.scales_experts)
        shapes.vector(Role::ExpertScales, "router.per_expert_scale", m.num_experts, true);
    shapes.weight(Role::Router, m.router.norms_input ? "router.proj" : "mlp.gate",
                  {m.num_experts, m.hidden_size});
    if (m.expert_biases) shapes.bias(Role::RouterBias, "mlp.gate", m.num_experts);
    matrices(Role::ExpertGateUp, Role::ExpertGateUpBias, "mlp.experts.gate_up_proj",
             m.gate.columns() * expert, m.expert_outer_size());
    matrices(Role::ExpertDown, Role::ExpertDownBias, "mlp.experts.down_proj", m.expert_outer_size(), expert);
    if (m.expert_latent_size > 0) {
        shapes.weight(Role::ExpertLatent, "mlp.fc1_latent_proj", {m.expert_latent_size, m.hidden_size});
        shapes.weight(Role::ExpertLatent, "mlp.fc2_latent_proj", {m.hidden_size, m.expert_latent_size});
    }
    if (shared == 0) return;
    if (m.gate.gated)
        shapes.weight(Role::SharedExpert, "mlp.shared_expert.gate_proj", {shared, m.hidden_size});
    shapes.weight(Role::SharedExpert, "mlp.shared_expert.up_proj", {shared, m.hidden_size});
    shapes.weight(Role::SharedExpert, "mlp.shared_expert.down_proj", {m.hidden_size, shared});
    if (m.gates_shared_expert)
        shapes.weight(Role::SharedExpert, "mlp.shared_expert_gate", {1, m.hidden_size});
}

void add_mlp(const ModelConfig& m, Shapes& shapes) {
    const auto inner = [&](Role role, const char* name) {
        shapes.weight(role, name, {m.intermediate_size, m.hidden_size});
    };
    if (m.gate.gated) inner(Role::Gate, "mlp.gate_proj");
    inner(Role::Up, "mlp.up_proj");
    if (m.mlp_bias && m.gate.gated) shapes.bias(Role::GateBias, "mlp.gate_proj", m.intermediate_size);
    if (m.mlp_bias) shapes.bias(Role::UpBias, "mlp.up_proj", m.intermediate_size);
    shapes.weight(Role::Down, "mlp.down_proj", {m.hidden_size, m.intermediate_size});
    if (m.mlp_bias) shapes.bias(Role::DownBias, "mlp.down_proj", m.hidden_size);
}

/// Adds a layer's attention, or its recurrence, or both, with their norms.
void add_mixer(const ModelConfig& m, const LayerKind& kind, Shapes& shapes) {
    if (m.norms_inputs) shapes.norm(Role::InputNorm, "input_layernorm", m.hidden_size, m.norm_biases);
    if (!kind.is_recurrent && m.latent.on())
        add_latent_attention(m, shapes);
    else if (!kind.is_recurrent)
        add_attention(m, shapes);
    if (kind.is_recurrent || m.has_attention_and_recurrence()) add_recurrence(m, shapes);
    if (m.norms_outputs)
        shapes.norm(Role::PostAttentionNorm, "attention_output_norm", m.hidden_size, m.norm_biases);
}

/// Adds the block that reads a layer's input (engine/blocks/layer_input.h).
void add_layer_input(const ModelConfig& m, Shapes& shapes) {
    shapes.weight(Role::LayerInput, "per_layer_input_gate", {m.layer_input_width, m.hidden_size});
    shapes.weight(Role::LayerInput, "per_layer_projection", {m.hidden_size, m.layer_input_width});
    shapes.norm(Role::LayerInput, "post_per_layer_input_norm", m.hidden_size, m.norm_biases);
}

void add_layer(const ModelConfig& m, const LayerKind& kind, Shapes shapes) {
    const auto norm = [&](Role role, const char* name) {
        shapes.norm(role, name, m.hidden_size, m.norm_biases);
    };
    if (!kind.lacks_mixer) add_mixer(m, kind, shapes);
    if (kind.lacks_mlp) return;
    const bool mlp_has_norm = m.norms_inputs && (!m.parallel_blocks || m.parallel_norms);
    if (mlp_has_norm) norm(Role::MlpNorm, "post_attention_layernorm");
    const bool has_experts = m.has_experts(kind), has_both = has_experts && m.experts_beside_mlp;
    if (!has_experts || has_both) add_mlp(m, shapes);
    if (has_both) norm(Role::PostMlpNorm, "mlp_part_norm");
    if (has_both) norm(Role::MlpNorm, "experts_norm");
    if (has_experts) add_experts(m, shapes);
    if (has_both) norm(Role::PostMlpNorm, "experts_part_norm");
    if (m.norms_outputs) norm(Role::PostMlpNorm, "mlp_output_norm");
    if (m.layer_input_width > 0) add_layer_input(m, shapes);
}

/// Returns a tensor's name in the family's files; both names lack the layer's prefix. If the family renames
/// several modules that contain the tensor, the longest name applies.
std::string in_files(const Family& family, const std::string& tensor) {
    for (size_t end = tensor.size(); end != std::string::npos; end = tensor.rfind('.', end - 1))
        for (const Rename& rename : family.names)
            if (rename.module == tensor.substr(0, end))
                return std::string(rename.in_files) + tensor.substr(end);
    return tensor;
}

/// Returns the prefix that the files have in place of "model.".
std::string body_of(const ModelConfig& m, const Family& family) {
    if (!m.weight_prefix.empty()) return m.weight_prefix;
    return family.body.empty() ? "model." : std::string(family.body);
}

/// Returns the name that a parameter, here [model.layers.N.]module.weight or .bias, has in the model's files.
std::string file_name(const ModelConfig& m, const Family& family, const ParameterShape& shape) {
    const std::string number = std::to_string(shape.layer) + ".";
    const std::string prefix = shape.layer < 0 ? "" : "model.layers." + number;
    std::string stored = in_files(family, shape.name.substr(prefix.size()));
    if (shape.layer >= 0) stored = "model." + std::string(family.layers) + "." + number + stored;
    return stored.starts_with("model.") ? body_of(m, family) + stored.substr(6) : stored;
}

/// Joins adjacent parameters that the files hold in one tensor, one below the other.
void join_rows(std::vector<ParameterShape>& shapes) {
    std::vector<ParameterShape> joined;
    for (ParameterShape& shape : shapes) {
        const bool continues = !joined.empty() && shape.stored.parts.empty() &&
                               joined.back().stored.parts.empty() &&
                               joined.back().stored.name == shape.stored.name;
        if (continues)
            joined.back().shape.front() += shape.shape.front();
        else
            joined.push_back(std::move(shape));
    }
    shapes = std::move(joined);
}

/// Returns the files' names of the router, or of the matrices of every expert in their order.
std::vector<std::string> expert_parts(const ModelConfig& m, const Family& family,
                                      const ParameterShape& shape) {
    const ExpertNames& names = family.experts;
    if (names.experts.empty()) return {};
    const std::string layer = body_of(m, family) + "layers." + std::to_string(shape.layer) + ".";
    if (shape.role == Role::Router) return {layer + std::string(names.router) + ".weight"};
    std::vector<std::string_view> modules;
    if (shape.role == Role::ExpertGateUp) modules = {names.gate, names.up};
    if (shape.role == Role::ExpertDown) modules = {names.down};
    std::erase(modules, "");
    const std::string all = layer + std::string(names.experts) + ".";
    std::vector<std::string> parts;
    for (int64_t expert = 0; !modules.empty() && expert < (names.stacked ? 1 : m.num_experts); ++expert) {
        const std::string own = names.stacked ? all : all + std::to_string(expert) + ".";
        for (const std::string_view module : modules) parts.push_back(own + std::string(module) + ".weight");
    }
    return parts;
}

const std::string kScores = "score";

void place_in_files(const ModelConfig& m, std::vector<ParameterShape>& shapes) {
    const Family* family = find_family(m.model_type);
    if (family == nullptr) return;
    for (ParameterShape& shape : shapes)
        if (m.num_labels > 0 && (shape.role == Role::Head || shape.role == Role::HeadBias))
            shape.stored.name = kScores + shape.name.substr(shape.name.rfind('.'));
    for (ParameterShape& shape : shapes) {
        shape.stored.parts = expert_parts(m, *family, shape);
        shape.stored.stacked = family->experts.stacked;
    }
    if (family->names.empty() && m.weight_prefix.empty()) return;  // every family with `body` has names
    for (ParameterShape& shape : shapes)
        if (shape.stored.name.empty()) shape.stored.name = file_name(m, *family, shape);
    join_rows(shapes);
}

}  // namespace

std::vector<StoredTensor> stored_tensors(const std::vector<ParameterShape>& shapes) {
    std::vector<StoredTensor> tensors;
    for (size_t i = 0; i < shapes.size(); ++i) {
        if (const auto& parts = shapes[i].stored.parts; !parts.empty()) {
            for (size_t p = 0; p < parts.size(); ++p)
                tensors.push_back({parts[p], shapes[i].part_shape(), i, parts.size(), p});
        } else {
            tensors.push_back({shapes[i].file_name(), shapes[i].shape, i});
        }
    }
    return tensors;
}

std::vector<int64_t> ParameterShape::part_shape() const {
    if (stored.stacked) return shape;
    return {size() / shape.back() / static_cast<int64_t>(stored.parts.size()), shape.back()};
}

int64_t ParameterShape::size() const {
    return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

bool has_score_class(const ModelConfig& model, bool of_tokens) {
    const Family* family = find_family(model.model_type);
    if (family == nullptr || !model.weight_prefix.empty()) return false;
    return family->score_classes == ScoreClasses::Both ||
           (!of_tokens && family->score_classes == ScoreClasses::OfSequences);
}

ModelConfig with_scores(ModelConfig model, int64_t labels, bool of_tokens) {
    model.num_labels = labels;
    model.tie_word_embeddings = false;
    model.head_bias = of_tokens;
    model.logit_softcap = 0;
    model.logit_multiplier = 1;
    return model;
}

namespace {

/// Adds the tensors that make the inputs of all layers (engine/model/layer_inputs.h).
void add_layer_inputs(const ModelConfig& m, Shapes& outside) {
    outside.weight(Role::LayerInputs, "model.embed_tokens_per_layer",
                   {m.layer_inputs_vocabulary, m.layer_inputs_width});
    outside.weight(Role::LayerInputs, "model.per_layer_model_projection",
                   {m.layer_inputs_width, m.hidden_size});
    outside.norm(Role::LayerInputs, "model.per_layer_projection_norm", m.layer_input_width, false);
}

}  // namespace

std::vector<ParameterShape> parameter_shapes(const ModelConfig& m) {
    std::vector<ParameterShape> shapes;
    Shapes outside(shapes, -1);
    outside.weight(Role::Embedding, "model.embed_tokens", {m.vocab_size, m.hidden_size});
    if (m.layer_input_width > 0) add_layer_inputs(m, outside);
    for (int64_t layer = 0; layer < m.num_layers; ++layer)
        add_layer(m.of_layer(layer), m.layer_kind(layer), Shapes(shapes, static_cast<int>(layer)));
    outside.norm(Role::FinalNorm, "model.norm", m.hidden_size, m.norm_biases);
    if (!m.tie_word_embeddings) {
        outside.weight(Role::Head, "lm_head", {m.head_rows(), m.hidden_size});
        if (m.head_bias) outside.bias(Role::HeadBias, "lm_head", m.head_rows());
    }
    place_in_files(m, shapes);
    return shapes;
}

std::vector<ParameterShape> buffer_shapes(const ModelConfig& m) {
    std::vector<ParameterShape> shapes;
    for (int64_t layer = 0; layer < m.num_layers; ++layer) {
        Shapes own(shapes, static_cast<int>(layer));
        if (m.router.corrects && m.has_experts(m.layer_kind(layer)))
            own.vector(Role::RouterCorrection, "mlp.gate.e_score_correction_bias", m.num_experts, false);
        if (m.layer_scalars) own.vector(Role::LayerScalar, "layer_scalar", 1, false);
    }
    place_in_files(m, shapes);
    return shapes;
}

std::string peft_name(const ModelConfig& model, const ParameterShape& shape) {
    const std::string& name = shape.file_name();
    if (shape.role == Role::Head || shape.role == Role::HeadBias)
        return name.starts_with(kScores) ? name : "lm_head" + name.substr(name.rfind('.'));
    const Family* family = find_family(model.model_type);
    if (family != nullptr && family->peft_says_model && name.starts_with(family->body))
        return "model." + name.substr(family->body.size());
    for (const std::string& prefix : {model.weight_prefix, std::string("model.")}) {
        if (!model.weight_prefix.empty() && name.starts_with(prefix))
            return "model.language_model." + name.substr(prefix.size());
    }
    return name;
}

ParameterShape table_of(const ModelConfig& model, Role role) {
    const char* name = role == Role::Head ? "lm_head.weight" : "model.embed_tokens.weight";
    const int64_t rows = role == Role::Head ? model.head_rows() : model.vocab_size;
    std::vector<ParameterShape> table = {{name, {rows, model.hidden_size}, true, -1, role}};
    place_in_files(model, table);
    return table.front();
}

std::string peft_table(const ModelConfig& model, Role role) {
    const std::string name = peft_name(model, table_of(model, role));
    return name.substr(0, name.rfind('.'));
}

std::string peft_parameter(const ModelConfig& model, const std::string& parameter) {
    for (const ParameterShape& shape : parameter_shapes(model)) {
        if (shape.layer < 0 || !shape.name.ends_with("." + parameter)) continue;
        const std::string path = peft_name(model, shape);
        const std::string layer = "." + std::to_string(shape.layer) + ".";
        return path.substr(path.find(layer) + layer.size());
    }
    return parameter;
}

bool is_expert_target(const ModelConfig& model, std::string_view name) {
    const Family* family = find_family(model.model_type);
    if (family == nullptr || model.num_experts == 0) return false;
    const std::string last(name.substr(name.rfind('.') + 1));
    return (" " + std::string(family->expert_targets) + " ").find(" " + last + " ") != std::string::npos;
}

bool renames_expert_targets(const ModelConfig& model) {
    const Family* family = find_family(model.model_type);
    return family != nullptr && model.num_experts > 0 && !family->expert_targets.empty();
}

bool peft_refuses(const ModelConfig& model, std::string_view module) {
    const Family* family = find_family(model.model_type);
    return family != nullptr && family->peft_refuses_out_proj &&
           module.substr(module.rfind('.') + 1) == "out_proj";
}

std::string head_in_files(const ModelConfig& model) {
    const std::string name = table_of(model, Role::Head).file_name();
    return name.substr(0, name.rfind('.'));
}

UnitSizes sizes_of(const std::vector<ParameterShape>& shapes) {
    UnitSizes sizes;
    for (const ParameterShape& shape : shapes) {
        int64_t& unit = shape.layer >= 0              ? sizes.layer
                        : is_of_embedding(shape.role) ? sizes.embedding
                                                      : sizes.head;
        unit += shape.size();
    }
    return sizes;
}

ModelConfig without_layers(const ModelConfig& model) {
    ModelConfig none = model;
    none.num_layers = 0;
    return none;
}

namespace {

/// Returns the elements of the model's only layer.
int64_t layer_size(const ModelConfig& one) {
    return sizes_of(parameter_shapes(one)).layer;
}

}  // namespace

UnitSizes unit_sizes(const ModelConfig& model) {
    UnitSizes sizes = sizes_of(parameter_shapes(without_layers(model)));
    sizes.layer = largest_of_layers(model, layer_size);
    return sizes;
}

int64_t parameter_count(const ModelConfig& model) {
    const UnitSizes sizes = unit_sizes(model);
    return sizes.embedding + sum_over_layers(model, {}, layer_size) + sizes.head;
}

int64_t slice_elements(int64_t elements, int shards) {
    if (shards == 1) return elements;
    constexpr int64_t kTogether = 16;
    const int64_t slice = (elements + shards - 1) / shards;
    return (slice + kTogether - 1) / kTogether * kTogether;
}

}  // namespace ringmaster
