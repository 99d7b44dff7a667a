#include "engine/families/families.h"

namespace ringmaster {

namespace {

void describe_glm4(const ConfigFields& fields, ModelConfig& model) {
    model.qkv_bias = fields.flag_or("attention_bias", true);
    model.norms_outputs = true;
    model.ropes.front().interleaved = true;
}

void describe_glm(const ConfigFields& fields, ModelConfig& model) {
    describe_glm4(fields, model);
    model.norms_outputs = false;
}

constexpr Rename kGlmNames[] = {{"mlp.gate_proj", "mlp.gate_up_proj"},
                                {"mlp.up_proj", "mlp.gate_up_proj"},
                                {"attention_output_norm", "post_self_attn_layernorm"},
                                {"mlp_output_norm", "post_mlp_layernorm"}};

Family with_glm_defaults(const char* type, decltype(Family::describe) describe) {
    return {.type = type,
            .describe = describe,
            .kv_heads = 2,
            .head_dim = 128,
            .max_position = 131072,
            .norm_eps = 1.5625e-7,
            .rotary_share = 0.5,
            .names = kGlmNames,
            .padding_token = 151329};
}

const Family kGlmTable[] = {with_glm_defaults("glm4", describe_glm4), with_glm_defaults("glm", describe_glm)};

}  // namespace

const std::span<const Family> kGlmFamilies = kGlmTable;

}  // namespace ringmaster
