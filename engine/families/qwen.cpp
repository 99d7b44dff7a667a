#include "engine/families/families.h"

namespace ringmaster {

namespace {

/// Gives layers a window only if use_sliding_window is set: those from max_window_layers on, or those named
/// by layer_types.
void read_windows(const ConfigFields& fields, ModelConfig& model) {
    const std::optional<int64_t> window = read_window(fields, 4096);
    const auto first = static_cast<int64_t>(fields.number_or("max_window_layers", 28));
    if (!fields.flag_or("use_sliding_window", false)) return;
    if (fields.has("layer_types") && !fields.is_null("layer_types"))
        return read_layer_types(fields, model, window, 1);
    set_layers(model, window, 0, [&](int64_t layer) { return layer >= first; });
}

void describe_qwen2(const ConfigFields& fields, ModelConfig& model) {
    model.qkv_bias = true;
    read_windows(fields, model);
}

void describe_qwen3(const ConfigFields& fields, ModelConfig& model) {
    model.qkv_bias = model.output_bias = fields.flag_or("attention_bias", false);
    model.qk_norm = QkNorm::PerHead;
    read_windows(fields, model);
}

void read_experts(const ConfigFields& fields, ModelConfig& model, int64_t experts, int64_t chosen,
                  int64_t width) {
    constexpr int64_t kMax = 1'000'000;
    const bool everywhere = fields.number_or("decoder_sparse_step", 1) == 1;
    if (!everywhere || (fields.has("mlp_only_layers") && !fields.is_null("mlp_only_layers") &&
                        !fields.values()["mlp_only_layers"].empty()))
        fields.refuse("experts in only some of the layers are not supported");
    model.num_experts = fields.integer_or("num_experts", experts, kMax);
    model.experts_per_token = fields.integer_or("num_experts_per_tok", chosen, kMax);
    model.expert_intermediate_size = fields.integer_or("moe_intermediate_size", width, 10 * kMax);
}

void describe_qwen2_moe(const ConfigFields& fields, ModelConfig& model) {
    model.qkv_bias = fields.flag_or("qkv_bias", true);
    read_experts(fields, model, 60, 4, 1408);
    model.shared_expert_intermediate_size =
        fields.integer_or("shared_expert_intermediate_size", 5632, 10'000'000);
    read_windows(fields, model);
}

void describe_qwen3_moe(const ConfigFields& fields, ModelConfig& model) {
    describe_qwen3(fields, model);
    read_experts(fields, model, 128, 8, 768);
}

const Family kFamilies[] = {
    {.type = "qwen2", .describe = describe_qwen2, .kv_heads = 32, .max_position = 32768},
    {.type = "qwen3", .describe = describe_qwen3, .kv_heads = 32, .head_dim = 128, .max_position = 32768},
    {.type = "qwen2_moe", .describe = describe_qwen2_moe, .kv_heads = 16, .max_position = 32768},
    {.type = "qwen3_moe", .describe = describe_qwen3_moe, .kv_heads = 4, .max_position = 32768},
};

}  // namespace

const std::span<const Family> kQwenFamilies = kFamilies;

}  // namespace ringmaster
