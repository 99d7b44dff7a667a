// Reads three features that only the small models of Gemma 4 have: keys and values that several layers share,
// wider MLPs in those layers, and an input of each layer (configuration_gemma4.py of transformers 5.23).
#include "engine/families/families.h"

namespace ringmaster {

namespace {

constexpr int64_t kMostInputs = 100'000;

/// Returns the last layer before `end` with the same window, or without a window if this kind has none; -1 if
/// there is no such layer.
int64_t last_alike(const ModelConfig& model, const LayerKind& kind, int64_t end) {
    int64_t layer = end - 1;
    while (layer >= 0 && model.layers[static_cast<size_t>(layer)].window != kind.window) --layer;
    return layer;
}

}  // namespace

void read_shared_keys(const ConfigFields& fields, ModelConfig& model) {
    const bool is_wide = fields.flag_or("use_double_wide_mlp", false);
    const double said = fields.number_or("num_kv_shared_layers", 0);
    if (said == 0) return;
    const int64_t shared = fields.integer("num_kv_shared_layers", kMostInputs);
    const int64_t first = model.num_layers - shared;
    if (is_wide) model.wide_intermediate_size = 2 * model.intermediate_size;
    for (int64_t layer = std::max<int64_t>(0, first); layer < model.num_layers; ++layer) {
        LayerKind& kind = model.layers[static_cast<size_t>(layer)];
        kind.keys_of = last_alike(model, kind, first);
        kind.wide = is_wide;
        if (kind.keys_of < 0)
            fields.refuse("'num_kv_shared_layers' leaves no layer that makes keys for layer " +
                          std::to_string(layer));
    }
}

void read_layer_inputs(const ConfigFields& fields, ModelConfig& model) {
    const int64_t rows = fields.integer_or("vocab_size_per_layer_input", 262'144, 100'000'000);
    if (fields.number_or("hidden_size_per_layer_input", 256) == 0) return;
    model.layer_input_width = fields.integer_or("hidden_size_per_layer_input", 256, kMostInputs);
    model.layer_inputs_width = model.layer_input_width * model.num_layers;
    model.layer_inputs_vocabulary = rows;
    if (rows < model.vocab_size)
        fields.refuse("'vocab_size_per_layer_input' is " + std::to_string(rows) +
                      ", below 'vocab_size', so some tokens have no row");
}

}  // namespace ringmaster
