// Reads models whose layers with full attention have other head sizes than their layers with a window.
#include <algorithm>

#include "engine/families/families.h"

namespace ringmaster {

namespace {

constexpr int64_t kMostGlobal = 100'000;

/// Returns true if per_layer_config (`sizes`) has one entry for each layer without a window, none for other
/// layers, and all entries are equal. transformers writes per_layer_config in place of global_head_dim and
/// num_global_key_value_heads.
bool are_sizes_of_layers(const nlohmann::json& sizes, const ModelConfig& model) {
    const auto globals = std::count_if(model.layers.begin(), model.layers.end(),
                                       [](const LayerKind& kind) { return !kind.window; });
    if (sizes.size() != static_cast<size_t>(globals)) return false;
    for (const auto& [layer, of_layer] : sizes.items()) {
        const bool is_number =
            !layer.empty() && layer.size() < 6 &&
            std::all_of(layer.begin(), layer.end(), [](unsigned char c) { return std::isdigit(c); });
        if (!is_number || std::stoll(layer) >= model.num_layers || of_layer != sizes.front()) return false;
        if (model.layers[std::stoul(layer)].window) return false;
    }
    return true;
}

/// Reads the sizes from per_layer_config; if a size is missing there, uses that of the other layers.
void read_layer_sizes(const ConfigFields& fields, const ConfigFields& all, ModelConfig& model) {
    if (!are_sizes_of_layers(all.values(), model)) return model.obstacles.push_back("per_layer_config");
    const ConfigFields one(all.values().front(), all.where());
    model.global_heads.head_dim = one.integer_or("head_dim", model.head_dim, kMostGlobal);
    model.global_heads.kv_heads = one.integer_or("num_key_value_heads", model.num_kv_heads, kMostGlobal);
    for (const std::string& name : one.unread()) model.obstacles.push_back("per_layer_config." + name);
    for (const char* replaced : {"global_head_dim", "num_global_key_value_heads"}) fields.has(replaced);
}

}  // namespace

void read_global_heads(const ConfigFields& fields, ModelConfig& model, int64_t head_dim) {
    model.layers.resize(static_cast<size_t>(model.num_layers));
    model.sliding_window.reset();
    for (LayerKind& kind : model.layers) {
        kind.global = !kind.window;
        if (kind.window) model.sliding_window = kind.window;
    }
    HeadSizes& heads = model.global_heads;
    heads.values_are_keys = fields.flag_or("attention_k_eq_v", false);
    heads.kv_heads = model.num_kv_heads;
    if (const std::optional<ConfigFields> sizes = fields.object("per_layer_config")) {
        read_layer_sizes(fields, *sizes, model);
    } else {
        heads.head_dim = fields.integer_or("global_head_dim", head_dim, kMostGlobal);
        const int64_t kv_heads =
            fields.integer_or("num_global_key_value_heads", model.num_kv_heads, kMostGlobal);
        if (heads.values_are_keys) heads.kv_heads = kv_heads;
    }
    if (heads.head_dim % 2 != 0) fields.refuse("'global_head_dim' is odd: a rotary embedding turns pairs");
    if (model.num_heads % heads.kv_heads != 0)
        fields.refuse("'num_global_key_value_heads' does not divide 'num_attention_heads'");
    RopeConfig& rope = model.ropes.front();
    if (rope.type != "proportional" && rope.type != "default")
        model.obstacles.push_back("rope_type '" + rope.type + "'");
    rope.rotary_dim = heads.head_dim;
}

}  // namespace ringmaster
