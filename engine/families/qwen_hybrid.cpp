#include "engine/families/families.h"

namespace ringmaster {

namespace {

/// Reads which layers use the gated delta rule: those that layer_types names, or all except every fourth
/// layer.
void read_recurrence(const ConfigFields& fields, ModelConfig& model) {
    const int64_t interval = fields.integer_or("full_attention_interval", 4, 100'000);
    const nlohmann::json none, &types = fields.has("layer_types") ? fields.values()["layer_types"] : none;
    if (!types.is_null() && (!types.is_array() || types.size() != static_cast<size_t>(model.num_layers)))
        fields.refuse("'layer_types' does not have an entry a layer");
    for (int64_t layer = 0; layer < model.num_layers; ++layer) {
        const bool is_full = types.is_null() ? (layer + 1) % interval == 0
                                             : types[static_cast<size_t>(layer)] == "full_attention";
        model.layers.push_back({{}, 0, !is_full});
    }
    model.delta = {.key_heads = fields.integer_or("linear_num_key_heads", 16, 100'000),
                   .value_heads = fields.integer_or("linear_num_value_heads", 32, 100'000),
                   .key_width = fields.integer_or("linear_key_head_dim", 128, 100'000),
                   .value_width = fields.integer_or("linear_value_head_dim", 128, 100'000),
                   .taps = fields.integer_or("linear_conv_kernel_dim", 4, 64)};
    if (model.delta.value_heads % model.delta.key_heads != 0)
        fields.refuse("'linear_num_value_heads' is no multiple of 'linear_num_key_heads'");
}

void describe_qwen_hybrid(const ConfigFields& fields, ModelConfig& model) {
    model.qkv_bias = model.output_bias = fields.flag_or("attention_bias", false);
    model.qk_norm = QkNorm::PerHead;
    model.norm_adds_one = model.gates_attention = true;
    if (model.gate.activation != Activation::Silu) model.obstacles.push_back("hidden_act");
    if (!fields.flag_or("attn_output_gate", true)) model.obstacles.push_back("attn_output_gate");
    // The class leaves out the heads that predict later tokens (MTP), and keeps the state in float32.
    for (const char* idle : {"mtp_num_hidden_layers", "mtp_use_dedicated_embeddings", "mamba_ssm_dtype"})
        fields.has(idle);
    read_recurrence(fields, model);
}

void describe_moe(const ConfigFields& fields, ModelConfig& model) {
    describe_qwen_hybrid(fields, model);
    model.norms_expert_weights = true;
    read_experts(fields, model, {256, 8, 512, 512});
}

void describe_next(const ConfigFields& fields, ModelConfig& model) {
    describe_qwen_hybrid(fields, model);
    model.delta.by_key_head = true;
    model.norms_expert_weights = fields.flag_or("norm_topk_prob", true);
    read_experts(fields, model, {512, 10, 512, 512});
}

Family hybrid(const char* type, decltype(Family::describe) describe, int64_t kv_heads, ScoreClasses classes,
              const char* width_field = "intermediate_size", std::string_view expert_targets = {}) {
    return {.type = type,
            .describe = describe,
            .kv_heads = kv_heads,
            .head_dim = 256,
            .max_position = 32768,
            .rotary_share = 0.25,
            .width_field = width_field,
            .expert_targets = expert_targets,
            .score_classes = classes};
}

const Family kQwenHybridTable[] = {
    hybrid("qwen3_5_text", describe_qwen_hybrid, 4, ScoreClasses::OfSequences),
    hybrid("qwen3_5_moe_text", describe_moe, 2, ScoreClasses::None, "moe_intermediate_size"),
    hybrid("qwen3_next", describe_next, 2, ScoreClasses::Both, "intermediate_size", kQwenTargets)};
constexpr Wrapper kQwenHybridWrapperTable[] = {{"qwen3_5", "qwen3_5_text", "model.language_model."},
                                               {"qwen3_5_moe", "qwen3_5_moe_text", "model.language_model."}};

}  // namespace

const std::span<const Family> kQwenHybridFamilies = kQwenHybridTable;
const std::span<const Wrapper> kQwenHybridWrappers = kQwenHybridWrapperTable;

}  // namespace ringmaster
