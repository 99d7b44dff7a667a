#include "engine/families/families.h"

namespace ringmaster {

namespace {

/// Gives every layer the same window. transformers rejects layer_types for this class.
void describe_mistral(const ConfigFields& fields, ModelConfig& model) {
    model.sliding_window = read_window(fields, 4096);
}

void describe_ministral(const ConfigFields& fields, ModelConfig& model) {
    const std::optional<int64_t> window = read_window(fields, 4096);
    if (fields.has("layer_types") && !fields.is_null("layer_types"))
        return read_layer_types(fields, model, window, 1);
    model.sliding_window = window;
}

void describe_ministral3(const ConfigFields& fields, ModelConfig& model) {
    model.sliding_window = read_window(fields, std::nullopt);
}

void describe_mixtral(const ConfigFields& fields, ModelConfig& model) {
    model.sliding_window = read_window(fields, std::nullopt);
    model.norms_expert_weights = true;
    read_experts(fields, model, {8, 2});
}

void describe_mistral4(const ConfigFields& fields, ModelConfig& model) {
    model.router = {.best_of_group = 2, .has_loss = false};
    if (!fields.object("rope_parameters") && !fields.object("rope_scaling"))
        model.obstacles.push_back("rope_parameters");
    read_latents(fields, model, {1024, 256, 64, 64, 128}, true);
    read_grouped_experts(fields, model, {.experts = {128, 4, 2048}, .dense_layers = 0});
}

const Family kMistralTable[] = {
    {.type = "mistral", .describe = describe_mistral, .kv_heads = 8, .max_position = 131072},
    {.type = "ministral", .describe = describe_ministral, .kv_heads = 8, .max_position = 131072},
    {.type = "ministral3",
     .describe = describe_ministral3,
     .kv_heads = 8,
     .head_dim = 128,
     .max_position = 262144,
     .norm_eps = 1e-5,
     .rope_theta = 1e6,
     .has_query_scale = true,
     .padding_token = 11},
    {.type = "mixtral",
     .describe = describe_mixtral,
     .kv_heads = 8,
     .max_position = 131072,
     .norm_eps = 1e-5,
     .rope_theta = 1e6,
     .experts = {"block_sparse_moe.gate", "block_sparse_moe.experts", "w1", "w3", "w2"},
     .expert_targets = kMixtralTargets},
    {.type = "mistral4",
     .describe = describe_mistral4,
     .head_dim = 128,
     .max_position = 1048576,
     .names = kSharedExperts,
     .has_query_scale = true,
     .padding_token = 11,
     .experts = {.experts = {}}},
};

constexpr Wrapper kMistralWrapperTable[] = {{"mistral3", "mistral", "model.language_model."}};

}  // namespace

const std::span<const Family> kMistralFamilies = kMistralTable;
const std::span<const Wrapper> kMistralWrappers = kMistralWrapperTable;

}  // namespace ringmaster
