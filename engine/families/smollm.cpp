#include "engine/families/families.h"

namespace ringmaster {

namespace {

/// Removes the rotary embedding from layers with a 0 in no_rope_layers, or from every
/// no_rope_layer_interval-th layer.
void describe_smollm3(const ConfigFields& fields, ModelConfig& model) {
    model.qkv_bias = model.output_bias = fields.flag_or("attention_bias", false);
    model.mlp_bias = fields.flag_or("mlp_bias", false);
    const int64_t interval = fields.integer_or("no_rope_layer_interval", 4, 10'000);
    std::optional<int64_t> window;
    if (fields.flag_or("use_sliding_window", false)) window = read_window(fields, std::nullopt);
    if (window) read_layer_types(fields, model, window, 1);
    model.layers.resize(static_cast<size_t>(model.num_layers));
    const bool given = fields.has("no_rope_layers") && !fields.is_null("no_rope_layers");
    const nlohmann::json list = given ? fields.values()["no_rope_layers"] : nlohmann::json::array();
    if (given && (!list.is_array() || list.size() != model.layers.size()))
        fields.refuse("'no_rope_layers' does not have an entry a layer");
    for (size_t layer = 0; layer < model.layers.size(); ++layer) {
        const bool turns = given ? list[layer] != 0 : (static_cast<int64_t>(layer) + 1) % interval != 0;
        if (!turns) model.layers[layer].rope = -1;
    }
}

const Family kSmollmTable[] = {{.type = "smollm3",
                                .describe = describe_smollm3,
                                .kv_heads = 4,
                                .max_position = 32768,
                                .rope_theta = 2e6,
                                .tied = true,
                                .padding_token = 128004}};

}  // namespace

const std::span<const Family> kSmollmFamilies = kSmollmTable;

}  // namespace ringmaster
