// Describes Llama and the families that differ from it in one or two settings.
#include "engine/families/families.h"

namespace ringmaster {

namespace {

void describe_llama(const ConfigFields& fields, ModelConfig& model) {
    model.qkv_bias = model.output_bias = fields.flag_or("attention_bias", false);
    model.mlp_bias = fields.flag_or("mlp_bias", false);
}

void describe_arcee(const ConfigFields& fields, ModelConfig& model) {
    describe_llama(fields, model);
    model.gate.gated = false;
}

void describe_seed_oss(const ConfigFields& fields, ModelConfig& model) {
    model.qkv_bias = fields.flag_or("attention_bias", true);
    model.output_bias = fields.flag_or("attention_out_bias", false);
    model.mlp_bias = fields.flag_or("mlp_bias", false);
    // The class applies dropout by default, in training only.
    for (const char* dropout : {"attention_dropout", "residual_dropout"})
        if (fields.number_or(dropout, 0.1) != 0) model.obstacles.push_back(dropout);
}

const Family kLlamaTable[] = {
    {.type = "llama", .describe = describe_llama},
    {.type = "arcee",
     .describe = describe_arcee,
     .max_position = 4096,
     .norm_eps = 1e-5,
     .activation = "relu2"},
    {.type = "seed_oss",
     .describe = describe_seed_oss,
     .kv_heads = 8,
     .head_dim = 128,
     .max_position = 524288,
     .padding_token = 1},
};

constexpr Wrapper kLlamaWrapperTable[] = {{"voxtral", "llama", "model.language_model."}};

}  // namespace

const std::span<const Family> kLlamaFamilies = kLlamaTable;
const std::span<const Wrapper> kLlamaWrappers = kLlamaWrapperTable;

}  // namespace ringmaster
