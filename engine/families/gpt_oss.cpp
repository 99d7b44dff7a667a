// Describes gpt-oss: its attention has sinks, and its experts have biases and a clamped gate.
#include "engine/families/families.h"

namespace ringmaster {

namespace {

/// Gives every second layer a window, beginning with the first, unless layer_types names other layers.
void read_windows(const ConfigFields& fields, ModelConfig& model) {
    const std::optional<int64_t> window = read_window(fields, 128);
    if (fields.has("layer_types") && !fields.is_null("layer_types"))
        return read_layer_types(fields, model, window, 2);
    set_layers(model, window, 0, [](int64_t layer) { return layer % 2 == 0; });
}

/// Sets the rotary embedding that the class takes if config.json has none.
void read_default_rope(const ConfigFields& fields, ModelConfig& model) {
    if (fields.object("rope_parameters") || fields.object("rope_scaling")) return;
    RopeConfig& rope = model.ropes.front();
    rope.type = "yarn";
    rope.factor = 32;
    rope.original_max_position_embeddings = 4096;
    rope.truncate = false;
}

void describe_gpt_oss(const ConfigFields& fields, ModelConfig& model) {
    model.qkv_bias = model.output_bias = fields.flag_or("attention_bias", true);
    model.attention_sinks = true;
    read_experts(fields, model, {128, 4});
    // The class takes the softmax of the chosen experts' logits. This equals the softmax over all experts,
    // divided by its sum over the chosen experts.
    model.norms_expert_weights = true;
    model.expert_biases = model.experts_transposed = true;
    model.gate.limit = fields.positive_or("swiglu_limit", 7);
    model.gate.slope = fields.positive_or("swiglu_alpha", 1.702);
    fields.has("experts_per_token");       // an older name for a size; the hub's files have both
    fields.has("initial_context_length");  // an older name for the rotary embedding's original length
    if (fields.number_or("attention_dropout", 0) != 0) model.obstacles.push_back("attention_dropout");
    read_windows(fields, model);
    read_default_rope(fields, model);
}

constexpr Rename kGptOssNames[] = {{"mlp.gate", "mlp.router"}};
const Family kGptOssTable[] = {{.type = "gpt_oss",
                                .describe = describe_gpt_oss,
                                .kv_heads = 8,
                                .head_dim = 64,
                                .max_position = 131072,
                                .norm_eps = 1e-5,
                                .rope_theta = 150000,
                                .names = kGptOssNames,
                                .experts = {.experts = ""}}};

}  // namespace

const std::span<const Family> kGptOssFamilies = kGptOssTable;

}  // namespace ringmaster
