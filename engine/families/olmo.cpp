// Describes OLMo 2 and 3 and EXAONE 4: norms follow attention and the MLP instead of preceding them.
#include "engine/families/families.h"
#include "engine/families/read_rope.h"

namespace ringmaster {

namespace {

void norm_outputs_alone(ModelConfig& model) {
    model.norms_inputs = false;
    model.norms_outputs = true;
}

void describe_olmo2(const ConfigFields& fields, ModelConfig& model) {
    model.qkv_bias = model.output_bias = fields.flag_or("attention_bias", false);
    model.qk_norm = QkNorm::Whole;
    norm_outputs_alone(model);
}

/// Gives layers with a window an unscaled rope with the same theta.
void describe_olmo3(const ConfigFields& fields, ModelConfig& model) {
    describe_olmo2(fields, model);
    read_layer_types(fields, model, read_window(fields, 4096), 4, 1);
    model.ropes.push_back(read_window_rope(fields, model.ropes.front().theta));
}

/// Removes the rotary embedding from layers without a window, if other layers have one.
void describe_exaone4(const ConfigFields& fields, ModelConfig& model) {
    model.qk_norm = QkNorm::PerHead;
    norm_outputs_alone(model);
    const std::optional<int64_t> window = read_window(fields, 4096);
    int64_t pattern = 4;
    if (fields.has("sliding_window_pattern") && fields.values()["sliding_window_pattern"].is_number())
        pattern = fields.integer("sliding_window_pattern", 10'000);
    else if (const std::string letters = fields.text_or("sliding_window_pattern", ""); !letters.empty())
        pattern = static_cast<int64_t>(letters.size());
    read_layer_types(fields, model, window, pattern);
    for (LayerKind& kind : model.layers)
        if (!kind.window) kind.rope = -1;
}

constexpr Rename kOlmoNames[] = {{"attention_output_norm", "post_attention_layernorm"},
                                 {"mlp_output_norm", "post_feedforward_layernorm"}};

const Family kOlmoTable[] = {
    {.type = "olmo2",
     .describe = describe_olmo2,
     .norm_eps = 1e-5,
     .names = kOlmoNames,
     .padding_token = 1,
     .score_classes = ScoreClasses::OfSequences},
    {.type = "olmo3",
     .describe = describe_olmo3,
     .norm_eps = 1e-5,
     .rope_theta = 5e5,
     .names = kOlmoNames,
     .padding_token = 1,
     .score_classes = ScoreClasses::OfSequences},
    {.type = "exaone4", .describe = describe_exaone4, .kv_heads = 32, .norm_eps = 1e-5, .names = kOlmoNames},
};

}  // namespace

const std::span<const Family> kOlmoFamilies = kOlmoTable;

}  // namespace ringmaster
