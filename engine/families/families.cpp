#include "engine/families/families.h"

#include <array>

namespace ringmaster {

namespace {

const auto& all_families() {
    static const std::array all = {
        kLlamaFamilies,         kQwenFamilies,          kSmollmFamilies,    kHunyuanFamilies,
        kGemmaFamilies,         kGemmaSandwichFamilies, kGemma4Families,    kPhiFamilies,
        kMistralFamilies,       kOlmoFamilies,          kGraniteFamilies,   kGlmFamilies,
        kGroupedExpertFamilies, kCohereFamilies,        kLayerNormFamilies, kNeoxFamilies,
        kFalconFamilies,        kFalconH1Families,      kBambaFamilies,     kNemotronHFamilies,
        kJambaFamilies,         kGptjFamilies,          kMinimaxFamilies,   kLfmFamilies,
        kQwenHybridFamilies,    kGptOssFamilies};
    return all;
}

}  // namespace

const Family* find_family(std::string_view type) {
    for (const std::span<const Family> some : all_families())
        for (const Family& family : some)
            if (family.type == type) return &family;
    return nullptr;
}

const Wrapper* find_wrapper(std::string_view type) {
    for (const std::span<const Wrapper> some :
         {kGemmaWrappers, kGemma4Wrappers, kMistralWrappers, kQwenHybridWrappers, kLlamaWrappers})
        for (const Wrapper& wrapper : some)
            if (wrapper.type == type) return &wrapper;
    return nullptr;
}

std::string family_names() {
    std::string names;
    for (const std::span<const Family> some : all_families())
        for (const Family& family : some) names += (names.empty() ? "" : ", ") + family.type;
    return names;
}

std::optional<int64_t> read_window(const ConfigFields& fields, std::optional<int64_t> otherwise) {
    if (fields.is_null("sliding_window")) return std::nullopt;
    if (!fields.has("sliding_window")) return otherwise;
    return fields.integer("sliding_window", int64_t{1} << 40);
}

void read_experts(const ConfigFields& fields, ModelConfig& model, const ExpertDefaults& defaults) {
    constexpr int64_t kMost = 1'000'000;
    const bool everywhere = fields.number_or("decoder_sparse_step", 1) == 1;
    if (!everywhere || (fields.has("mlp_only_layers") && !fields.is_null("mlp_only_layers") &&
                        !fields.values()["mlp_only_layers"].empty()))
        fields.refuse("experts in only some of the layers are not supported");
    const char* number = fields.has("num_local_experts") ? "num_local_experts" : "num_experts";
    model.num_experts = fields.integer_or(number, defaults.experts, kMost);
    model.experts_per_token = fields.integer_or("num_experts_per_tok", defaults.per_token, kMost);
    if (model.experts_per_token > model.num_experts)
        fields.refuse("'num_experts_per_tok' is above the number of experts");
    model.expert_intermediate_size =
        defaults.width == 0 ? model.intermediate_size
                            : fields.integer_or("moe_intermediate_size", defaults.width, 10 * kMost);
    if (defaults.shared > 0)
        model.shared_expert_intermediate_size =
            fields.integer_or("shared_expert_intermediate_size", defaults.shared, 10 * kMost);
    model.adds_router_loss = fields.flag_or("output_router_logits", false);
    model.router_loss_coefficient = fields.number_or("router_aux_loss_coef", 0.001);
}

void read_layer_types(const ConfigFields& fields, ModelConfig& model, std::optional<int64_t> window,
                      int64_t pattern, int window_rope) {
    if (!fields.has("layer_types") || fields.is_null("layer_types"))
        return set_layers(model, window, window_rope,
                          [&](int64_t layer) { return (layer + 1) % pattern != 0; });
    const nlohmann::json& types = fields.values()["layer_types"];
    if (!types.is_array() || types.size() != static_cast<size_t>(model.num_layers))
        fields.refuse("'layer_types' does not have an entry a layer");
    for (const nlohmann::json& type : types)
        if (type != "sliding_attention" && type != "full_attention") {
            model.obstacles.push_back("layer_types " + type.dump());
            return;
        }
    set_layers(model, window, window_rope,
               [&](int64_t layer) { return types[static_cast<size_t>(layer)] == "sliding_attention"; });
}

}  // namespace ringmaster
