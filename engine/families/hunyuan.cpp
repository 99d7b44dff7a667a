#include "engine/families/families.h"

namespace ringmaster {

namespace {

constexpr Rename kHunyuanNames[] = {{"self_attn.q_norm", "self_attn.query_layernorm"},
                                    {"self_attn.k_norm", "self_attn.key_layernorm"}};

/// Describes HunYuan. Its "dynamic" scaling, which raises theta by a fixed alpha, becomes an obstacle.
void describe_hunyuan(const ConfigFields& fields, ModelConfig& model) {
    model.qkv_bias = model.output_bias = fields.flag_or("attention_bias", false);
    model.qk_norm = QkNorm::PerHead;
    model.qk_norm_after_rotary = true;
    for (const char* idle :
         {"attention_head_dim", "use_qk_norm", "use_cla", "use_mla", "norm_type", "mlp_type"})
        fields.has(idle);
    if (model.ropes.front().type == "dynamic") model.obstacles.push_back("rope_parameters.alpha");
}

const Family kHunyuanTable[] = {{.type = "hunyuan_v1_dense",
                                 .describe = describe_hunyuan,
                                 .norm_eps = 1e-5,
                                 .names = kHunyuanNames,
                                 .padding_token = 0,
                                 .score_classes = ScoreClasses::OfSequences}};

}  // namespace

const std::span<const Family> kHunyuanFamilies = kHunyuanTable;

}  // namespace ringmaster
