// Reads which layers of a hybrid have attention, a state space, an MLP or experts.
#include "engine/families/families.h"

namespace ringmaster {

namespace {

std::vector<std::string> parts_of_letters(const std::string& letters) {
    std::vector<std::string> parts;
    for (const char letter : letters)
        parts.push_back(letter == 'M'   ? "linear_attention"
                        : letter == '*' ? "full_attention"
                        : letter == '-' ? "mlp"
                        : letter == 'E' ? "moe"
                                        : std::string(1, letter));
    return parts;
}

}  // namespace

std::vector<std::string> read_layer_parts(const ConfigFields& fields, const char* letters_field) {
    const std::string letters = letters_field != nullptr ? fields.text_or(letters_field, "") : "";
    const bool is_old = !fields.has("layer_types") || fields.is_null("layer_types");
    const char* key = is_old ? "layers_block_type" : "layer_types";
    if (!fields.has(key) || fields.is_null(key)) return parts_of_letters(letters);
    const nlohmann::json& names = fields.values()[key];
    if (!names.is_array()) fields.refuse("'" + std::string(key) + "' is no list");
    std::vector<std::string> parts;
    for (const nlohmann::json& name : names) {
        parts.push_back(name.is_string() ? name.get<std::string>() : name.dump());
        if (parts.back() == "mamba") parts.back() = "linear_attention";
        if (parts.back() == "attention") parts.back() = "full_attention";
    }
    return parts;
}

void set_layer_parts(const ConfigFields& fields, ModelConfig& model, const std::vector<std::string>& parts,
                     int rope, bool alone) {
    if (parts.size() != static_cast<size_t>(model.num_layers))
        fields.refuse("'layer_types' does not have an entry a layer");
    for (const std::string& part : parts) {
        const bool mixes = part == "linear_attention" || part == "full_attention";
        if (!mixes && !(alone && (part == "mlp" || part == "moe")))
            fields.refuse("a layer is '" + part + "', which is unknown here");
        model.layers.push_back({.rope = rope,
                                .is_recurrent = part == "linear_attention",
                                .dense = part == "mlp",
                                .lacks_mixer = !mixes,
                                .lacks_mlp = alone && mixes});
    }
    if (!model.has_recurrent_layers()) model.delta = {};
    if (model.layer_kinds().empty()) model.obstacles.push_back("layer_types without attention");
}

}  // namespace ringmaster
