#include "engine/families/families.h"

namespace ringmaster {

namespace {

/// Gives layers a window only if use_sliding_window is set: those named by layer_types, or those for which
/// slides(layer, max_window_layers) returns true.
void read_windows(const ConfigFields& fields, ModelConfig& model, bool (*slides)(int64_t, int64_t)) {
    if (!fields.flag_or("use_sliding_window", false)) return;
    const std::optional<int64_t> window = read_window(fields, 4096);
    const auto bound = static_cast<int64_t>(fields.number_or("max_window_layers", 28));
    if (fields.has("layer_types") && !fields.is_null("layer_types"))
        return read_layer_types(fields, model, window, 1);
    set_layers(model, window, 0, [&](int64_t layer) { return slides(layer, bound); });
}

bool is_late(int64_t layer, int64_t bound) {
    return layer >= bound;
}

bool is_early_and_even(int64_t layer, int64_t bound) {
    return layer < bound && layer % 2 == 0;
}

void describe_qwen2(const ConfigFields& fields, ModelConfig& model) {
    model.qkv_bias = true;
    read_windows(fields, model, is_late);
}

void describe_qwen3(const ConfigFields& fields, ModelConfig& model) {
    model.qkv_bias = model.output_bias = fields.flag_or("attention_bias", false);
    model.qk_norm = QkNorm::PerHead;
    read_windows(fields, model, is_late);
}

void describe_qwen2_moe(const ConfigFields& fields, ModelConfig& model) {
    model.qkv_bias = fields.flag_or("qkv_bias", true);
    model.norms_expert_weights = fields.flag_or("norm_topk_prob", false);
    read_experts(fields, model, {60, 4, 1408, 5632});
    read_windows(fields, model, is_early_and_even);
}

/// Gives all layers the same window: transformers' class reads neither layer_types nor max_window_layers.
void describe_qwen3_moe(const ConfigFields& fields, ModelConfig& model) {
    model.qkv_bias = model.output_bias = fields.flag_or("attention_bias", false);
    model.qk_norm = QkNorm::PerHead;
    model.norms_expert_weights = fields.flag_or("norm_topk_prob", false);
    read_experts(fields, model, {128, 8, 768});
    if (fields.flag_or("use_sliding_window", false)) model.sliding_window = read_window(fields, 4096);
}

const Family kQwenTable[] = {
    {.type = "qwen2", .describe = describe_qwen2, .kv_heads = 32, .max_position = 32768},
    {.type = "qwen3", .describe = describe_qwen3, .kv_heads = 32, .head_dim = 128, .max_position = 32768},
    {.type = "qwen2_moe", .describe = describe_qwen2_moe, .kv_heads = 16, .max_position = 32768},
    {.type = "qwen3_moe",
     .describe = describe_qwen3_moe,
     .kv_heads = 4,
     .max_position = 32768,
     .expert_targets = kQwenTargets},
};

}  // namespace

const std::span<const Family> kQwenFamilies = kQwenTable;

}  // namespace ringmaster
