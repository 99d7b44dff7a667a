#include <algorithm>
#include <numeric>
#include <string_view>

#include "engine/plan/model_config.h"

namespace ringmaster {

namespace {

/// Collects the tensors of one layer, or of what stands outside the layers (layer -1).
class Shapes {
  public:
    Shapes(std::vector<ParameterShape>& shapes, int layer)
        : shapes_(shapes),
          layer_(layer),
          prefix_(layer < 0 ? "" : "model.layers." + std::to_string(layer) + ".") {}

    void weight(const std::string& name, std::vector<int64_t> shape) {
        shapes_.push_back({prefix_ + name + ".weight", std::move(shape), true, layer_});
    }
    void tensor(const std::string& name, std::vector<int64_t> shape) {
        shapes_.push_back({prefix_ + name, std::move(shape), true, layer_});
    }
    void norm(const std::string& name, int64_t size, bool with_bias = false) {
        shapes_.push_back({prefix_ + name + ".weight", {size}, false, layer_});
        if (with_bias) bias(name, size);
    }
    void bias(const std::string& name, int64_t size) {
        shapes_.push_back({prefix_ + name + ".bias", {size}, false, layer_});
    }

  private:
    std::vector<ParameterShape>& shapes_;
    int layer_;
    std::string prefix_;
};

bool ends_with_module(const std::string& name, const std::vector<std::string>& modules) {
    return std::any_of(modules.begin(), modules.end(),
                       [&](const std::string& module) { return name.ends_with("." + module + ".weight"); });
}

bool has_layer_norms(const ModelConfig& m) {
    return m.model_type == "phi" || m.model_type == "starcoder2";
}

void add_attention(const ModelConfig& m, Shapes& shapes) {
    const std::string attn = "self_attn.";
    const int64_t q = m.num_heads * m.head_dim;
    const int64_t kv = m.num_kv_heads * m.head_dim;
    const std::string out = attn + (m.model_type == "phi" ? "dense" : "o_proj");
    if (m.model_type == "phi3") {
        shapes.weight(attn + "qkv_proj", {q + 2 * kv, m.hidden_size});
    } else {
        shapes.weight(attn + "q_proj", {q, m.hidden_size});
        shapes.weight(attn + "k_proj", {kv, m.hidden_size});
        shapes.weight(attn + "v_proj", {kv, m.hidden_size});
    }
    if (m.qkv_bias) {
        shapes.bias(attn + "q_proj", q);
        shapes.bias(attn + "k_proj", kv);
        shapes.bias(attn + "v_proj", kv);
    }
    if (m.qk_norm) {
        shapes.norm(attn + "q_norm", m.head_dim);
        shapes.norm(attn + "k_norm", m.head_dim);
    }
    shapes.weight(out, {m.hidden_size, q});
    if (m.output_bias) shapes.bias(out, m.hidden_size);
}

/// Names as transformers 5 has them: all experts of a layer in one tensor.
void add_experts(const ModelConfig& m, Shapes& shapes) {
    shapes.weight("mlp.gate", {m.num_experts, m.hidden_size});
    shapes.tensor("mlp.experts.gate_up_proj", {m.num_experts, 2 * m.expert_intermediate_size, m.hidden_size});
    shapes.tensor("mlp.experts.down_proj", {m.num_experts, m.hidden_size, m.expert_intermediate_size});
    if (m.shared_expert_intermediate_size == 0) return;
    shapes.weight("mlp.shared_expert.gate_proj", {m.shared_expert_intermediate_size, m.hidden_size});
    shapes.weight("mlp.shared_expert.up_proj", {m.shared_expert_intermediate_size, m.hidden_size});
    shapes.weight("mlp.shared_expert.down_proj", {m.hidden_size, m.shared_expert_intermediate_size});
    shapes.weight("mlp.shared_expert_gate", {1, m.hidden_size});
}

/// Without a gate: phi and starcoder2.
void add_plain_mlp(const ModelConfig& m, Shapes& shapes) {
    const bool phi = m.model_type == "phi";
    const std::string in = phi ? "mlp.fc1" : "mlp.c_fc";
    const std::string out = phi ? "mlp.fc2" : "mlp.c_proj";
    shapes.weight(in, {m.intermediate_size, m.hidden_size});
    if (m.mlp_bias) shapes.bias(in, m.intermediate_size);
    shapes.weight(out, {m.hidden_size, m.intermediate_size});
    if (m.mlp_bias) shapes.bias(out, m.hidden_size);
}

void add_gated_mlp(const ModelConfig& m, Shapes& shapes) {
    if (m.model_type == "phi3") {
        shapes.weight("mlp.gate_up_proj", {2 * m.intermediate_size, m.hidden_size});
    } else {
        shapes.weight("mlp.gate_proj", {m.intermediate_size, m.hidden_size});
        shapes.weight("mlp.up_proj", {m.intermediate_size, m.hidden_size});
    }
    if (m.mlp_bias) {
        shapes.bias("mlp.gate_proj", m.intermediate_size);
        shapes.bias("mlp.up_proj", m.intermediate_size);
    }
    shapes.weight("mlp.down_proj", {m.hidden_size, m.intermediate_size});
    if (m.mlp_bias) shapes.bias("mlp.down_proj", m.hidden_size);
}

void add_layer(const ModelConfig& m, Shapes shapes) {
    const bool sandwich = m.model_type == "gemma2" || m.model_type == "gemma3_text";
    shapes.norm("input_layernorm", m.hidden_size, has_layer_norms(m));
    add_attention(m, shapes);
    // phi's attention and MLP stand side by side under one norm
    if (m.model_type != "phi") shapes.norm("post_attention_layernorm", m.hidden_size, has_layer_norms(m));
    if (sandwich) shapes.norm("pre_feedforward_layernorm", m.hidden_size);
    if (m.num_experts > 0) {
        add_experts(m, shapes);
    } else if (has_layer_norms(m)) {
        add_plain_mlp(m, shapes);
    } else {
        add_gated_mlp(m, shapes);
    }
    if (sandwich) shapes.norm("post_feedforward_layernorm", m.hidden_size);
}

}  // namespace

int64_t ParameterShape::size() const {
    return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

std::vector<ParameterShape> parameter_shapes(const ModelConfig& m) {
    std::vector<ParameterShape> shapes;
    Shapes outside(shapes, -1);
    outside.weight("model.embed_tokens", {m.vocab_size, m.hidden_size});
    for (int64_t layer = 0; layer < m.num_layers; ++layer)
        add_layer(m, Shapes(shapes, static_cast<int>(layer)));
    outside.norm(m.model_type == "phi" ? "model.final_layernorm" : "model.norm", m.hidden_size,
                 has_layer_norms(m));
    if (!m.tie_word_embeddings) {
        outside.weight("lm_head", {m.vocab_size, m.hidden_size});
        if (m.model_type == "phi") outside.bias("lm_head", m.vocab_size);
    }
    return shapes;
}

std::vector<ParameterShape> lora_shapes(const ModelConfig& model, const Lora& lora) {
    constexpr size_t kSuffix = std::string_view("weight").size();
    std::vector<ParameterShape> shapes;
    for (const ParameterShape& shape : parameter_shapes(model)) {
        const bool is_adapted = shape.layer >= 0 && lora.adapts(shape.layer) && shape.shape.size() == 2;
        if (!is_adapted || !ends_with_module(shape.name, lora.targets)) continue;
        const std::string module = "base_model.model." + shape.name.substr(0, shape.name.size() - kSuffix);
        shapes.push_back({module + "lora_A.weight", {lora.r, shape.shape[1]}, true, shape.layer});
        shapes.push_back({module + "lora_B.weight", {shape.shape[0], lora.r}, true, shape.layer});
    }
    return shapes;
}

int64_t lora_layer_count(const ModelConfig& model, const Lora& lora) {
    if (!lora.on()) return 0;
    ModelConfig one = model;
    one.num_layers = std::min<int64_t>(model.num_layers, 1);
    Lora alike = lora;
    alike.layers.clear();
    int64_t count = 0;
    for (const ParameterShape& shape : lora_shapes(one, alike)) count += shape.size();
    return count;
}

UnitSizes unit_sizes(const ModelConfig& model) {
    // All layers are alike, and a plan counts often.
    ModelConfig one = model;
    one.num_layers = std::min<int64_t>(model.num_layers, 1);
    UnitSizes sizes;
    for (const ParameterShape& shape : parameter_shapes(one)) {
        int64_t& unit = shape.layer == 0                            ? sizes.layer
                        : shape.name == "model.embed_tokens.weight" ? sizes.embedding
                                                                    : sizes.head;
        unit += shape.size();
    }
    return sizes;
}

int64_t parameter_count(const ModelConfig& model) {
    const UnitSizes sizes = unit_sizes(model);
    return sizes.embedding + std::max<int64_t>(0, model.num_layers) * sizes.layer + sizes.head;
}

int64_t slice_elements(int64_t elements, int shards) {
    if (shards == 1) return elements;
    constexpr int64_t kTogether = 16;
    const int64_t slice = (elements + shards - 1) / shards;
    return (slice + kTogether - 1) / kTogether * kTogether;
}

int64_t sharded_count(const ModelConfig& model, int shards) {
    const UnitSizes sizes = unit_sizes(model);
    return slice_elements(sizes.embedding, shards) +
           std::max<int64_t>(0, model.num_layers) * slice_elements(sizes.layer, shards) +
           slice_elements(sizes.head, shards);
}

}  // namespace ringmaster
