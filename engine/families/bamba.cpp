// Describes Bamba: most layers are state spaces (Mamba-2), the others have attention; all have an MLP.
#include "engine/families/families.h"

namespace ringmaster {

namespace {

/// Returns each layer's part: attention for the layers in `attn_layer_indices`, a state space for the others.
std::vector<std::string> parts_of(const ConfigFields& fields, int64_t layers) {
    std::vector<std::string> parts(static_cast<size_t>(layers), "linear_attention");
    if (!fields.has("attn_layer_indices") || fields.is_null("attn_layer_indices")) return parts;
    const nlohmann::json& attend = fields.values()["attn_layer_indices"];
    if (!attend.is_array()) fields.refuse("'attn_layer_indices' is no list");
    for (const nlohmann::json& index : attend)
        for (int64_t layer = 0; layer < layers; ++layer)
            if (index == layer) parts[static_cast<size_t>(layer)] = "full_attention";
    return parts;
}

void describe_bamba(const ConfigFields& fields, ModelConfig& model) {
    model.qkv_bias = model.output_bias = fields.flag_or("attention_bias", false);
    model.mlp_bias = fields.flag_or("mlp_bias", false);
    read_state_space(fields, model, {});
    model.delta.state_space.norm_groups = model.delta.key_heads;
    set_layer_parts(fields, model, parts_of(fields, model.num_layers), 0, false);
    if (fields.number_or("z_loss_coefficient", 0) != 0) model.obstacles.push_back("z_loss_coefficient");
    // The class rotates half of a head, regardless of this field.
    if (fields.number_or("partial_rotary_factor", 0.5) != 0.5)
        model.obstacles.push_back("partial_rotary_factor");
    fields.ignore("num_logits_to_keep");
}

constexpr Rename kBambaNames[] = {{"post_attention_layernorm", "pre_ff_layernorm"},
                                  {"linear_attn.in_proj_qkvz", "mamba.in_proj"},
                                  {"linear_attn", "mamba"},
                                  {"mlp", "feed_forward"},
                                  {"model.norm", "model.final_layernorm"}};

const Family kBambaTable[] = {{.type = "bamba",
                               .describe = describe_bamba,
                               .kv_heads = 8,
                               .max_position = 262144,
                               .norm_eps = 1e-5,
                               .rotary_share = 0.5,
                               .names = kBambaNames,
                               .padding_token = 0,
                               .score_classes = ScoreClasses::None}};

}  // namespace

const std::span<const Family> kBambaFamilies = kBambaTable;

}  // namespace ringmaster
