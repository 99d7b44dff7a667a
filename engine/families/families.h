/// Families of decoders as tables: what the fields of a config.json mean, and what files call the weights.
/// Source of every default: configuration_<type>.py of transformers 5.23.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/families/config_fields.h"
#include "engine/families/model_config.h"

namespace ringmaster {

/// A module of ParameterShape's naming, and what files call it. Modules that share a name lie in one tensor,
/// one below the other.
struct Rename {
    std::string_view module, in_files;
};

struct Family {
    std::string type;  ///< config.json's model_type
    void (*describe)(const ConfigFields& fields, ModelConfig& model);
    int64_t kv_heads = 0;  ///< if the field is absent; 0: as many as query heads
    int64_t head_dim = 0;  ///< 0: hidden_size ÷ num_attention_heads
    int64_t max_position = 2048;
    double norm_eps = 1e-6;
    double rope_theta = 1e4;
    bool tied = false;
    double rotary_share = 1;
    const char* activation = "silu";
    const char* activation_field = "hidden_act";
    const char* norm_eps_field = "rms_norm_eps";
    std::span<const Rename> names = {};
    bool has_query_scale = false;
    std::optional<int64_t> padding_token = {};  ///< if `pad_token_id` is absent
};

/// A multimodal model whose text part is a decoder.
struct Wrapper {
    std::string_view type, text_type, weight_prefix;
};

const Family* find_family(std::string_view type);
const Wrapper* find_wrapper(std::string_view type);
std::string family_names();

// Each in a file of its own.
extern const std::span<const Family> kLlamaFamilies, kQwenFamilies, kSmollmFamilies, kHunyuanFamilies,
    kGemmaFamilies, kGemmaSandwichFamilies, kPhiFamilies, kMistralFamilies, kOlmoFamilies, kGraniteFamilies,
    kGlmFamilies, kCohereFamilies, kLayerNormFamilies;
extern const std::span<const Wrapper> kGemmaWrappers, kMistralWrappers;

/// Gives every layer a window where `slides` says so, and rope `window_rope` there.
template <class Slides>
void set_layers(ModelConfig& model, std::optional<int64_t> window, int window_rope, Slides slides) {
    for (int64_t layer = 0; window && layer < model.num_layers; ++layer) {
        const bool sliding = slides(layer);
        model.layers.push_back(sliding ? LayerKind{window, window_rope} : LayerKind{});
        if (sliding) model.sliding_window = window;
    }
}

/// Reads the kind of each layer from `layer_types`; without it every `pattern`th layer sees everything.
void read_layer_types(const ConfigFields& fields, ModelConfig& model, std::optional<int64_t> window,
                      int64_t pattern, int window_rope = 0);
/// `sliding_window`, by default `otherwise`; null: none.
std::optional<int64_t> read_window(const ConfigFields& fields, std::optional<int64_t> otherwise);

}  // namespace ringmaster
