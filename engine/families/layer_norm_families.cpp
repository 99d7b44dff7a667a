// Describes StarCoder 2, StableLM and Nemotron, which use LayerNorm with a bias instead of RMSNorm.
#include "engine/families/families.h"

namespace ringmaster {

namespace {

void describe_starcoder2(const ConfigFields& fields, ModelConfig& model) {
    model.layer_norms = model.norm_biases = true;
    model.gate.gated = false;
    model.qkv_bias = model.output_bias = model.mlp_bias = fields.flag_or("use_bias", true);
    model.sliding_window = read_window(fields, std::nullopt);
    for (const char* idle : {"norm_type", "mlp_type"}) fields.has(idle);
}

void describe_stablelm(const ConfigFields& fields, ModelConfig& model) {
    model.layer_norms = model.norm_biases = true;
    model.qkv_bias = fields.flag_or("use_qkv_bias", false);
    model.parallel_blocks = fields.flag_or("use_parallel_residual", false);
    if (fields.flag_or("qk_layernorm", false)) model.obstacles.push_back("qk_layernorm");
}

void describe_nemotron(const ConfigFields& fields, ModelConfig& model) {
    model.layer_norms = model.norm_biases = model.norm_adds_one = true;
    model.gate.gated = false;
    model.qkv_bias = model.output_bias = fields.flag_or("attention_bias", false);
    model.mlp_bias = fields.flag_or("mlp_bias", false);
}

constexpr Rename kStarcoderNames[] = {{"mlp.up_proj", "mlp.c_fc"}, {"mlp.down_proj", "mlp.c_proj"}};

const Family kLayerNormTable[] = {
    {.type = "starcoder2",
     .describe = describe_starcoder2,
     .kv_heads = 2,
     .max_position = 4096,
     .norm_eps = 1e-5,
     .tied = true,
     .activation = "gelu_pytorch_tanh",
     .norm_eps_field = "norm_epsilon",
     .names = kStarcoderNames},
    {.type = "stablelm",
     .describe = describe_stablelm,
     .kv_heads = 32,
     .max_position = 4096,
     .norm_eps = 1e-5,
     .rotary_share = 0.25,
     .norm_eps_field = "layer_norm_eps"},
    {.type = "nemotron",
     .describe = describe_nemotron,
     .max_position = 4096,
     .norm_eps = 1e-5,
     .rotary_share = 0.5,
     .activation = "relu2",
     .norm_eps_field = "norm_eps"},
};

}  // namespace

const std::span<const Family> kLayerNormFamilies = kLayerNormTable;

}  // namespace ringmaster
