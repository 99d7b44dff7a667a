// Reads models in which some layers, like most of LFM2's, have a short convolution between two gates.
#include "engine/families/families.h"

namespace ringmaster {

namespace {

/// Reads which layers have attention: layer_types names them, or full_attn_idxs lists them.
void read_layers(const ConfigFields& fields, ModelConfig& model) {
    const nlohmann::json none, &types = fields.has("layer_types") ? fields.values()["layer_types"] : none;
    const nlohmann::json& attend = fields.has("full_attn_idxs") ? fields.values()["full_attn_idxs"] : none;
    if (!types.is_null() && (!types.is_array() || types.size() != static_cast<size_t>(model.num_layers)))
        fields.refuse("'layer_types' does not have an entry a layer");
    for (int64_t layer = 0; layer < model.num_layers; ++layer) {
        bool attends = attend.is_null();
        for (const nlohmann::json& index : attend) attends = attends || index == layer;
        if (!types.is_null()) attends = types[static_cast<size_t>(layer)] == "full_attention";
        model.layers.push_back({{}, 0, !attends});
    }
    model.delta = {.taps = fields.integer_or("conv_L_cache", 3, 64),
                   .by_key_head = true,
                   .convolved = model.hidden_size};
    if (fields.flag_or("conv_bias", false)) model.obstacles.push_back("conv_bias");
}

}  // namespace

void read_convolutions(const ConfigFields& fields, ModelConfig& model) {
    model.qk_norm = QkNorm::PerHead;
    model.tie_word_embeddings = fields.flag_or("tie_embedding", model.tie_word_embeddings);
    read_layers(fields, model);
    for (const char* width : {"conv_dim", "conv_dim_out", "block_dim"})
        if (fields.integer_or(width, model.hidden_size, 1'000'000) != model.hidden_size)
            model.obstacles.push_back(width);
    // transformers' class ignores these keys; has() marks them as known.
    for (const char* idle :
         {"theta", "block_mlp_init_scale", "block_norm_eps", "block_out_init_scale", "block_use_swiglu",
          "block_use_xavier_init", "conv_use_xavier_init", "num_heads", "use_pos_enc"})
        fields.has(idle);
}

}  // namespace ringmaster
