// Describes Falcon-H1: each layer has attention and a state space (Mamba-2) in parallel, scaled by factors.
#include <cmath>

#include "engine/families/families.h"

namespace ringmaster {

namespace {

void describe_falcon_h1(const ConfigFields& fields, ModelConfig& model) {
    read_state_space(fields, model, {.inner = 1024});
    StateSpace& space = model.delta.state_space;
    space.beside_attention = true;
    if (fields.flag_or("mamba_rms_norm", false)) space.norm_groups = model.delta.key_heads;
    space.norm_before_gate = fields.flag_or("mamba_norm_before_gate", true) && space.norm_groups > 0;
    if (fields.flag_or("projectors_bias", false)) model.obstacles.push_back("projectors_bias");
    model.qkv_bias = model.output_bias = fields.flag_or("attention_bias", false);
    model.mlp_bias = fields.flag_or("mlp_bias", false);
    model.embedding_multiplier = fields.number_or("embedding_multiplier", 1);
    model.logit_multiplier = fields.number_or("lm_head_multiplier", 1);
    // Scaling attention's input scales its output once, through the values, and its scores twice, through
    // queries and keys.
    const double read = fields.positive_or("attention_in_multiplier", 1);
    if (read != 1 && model.qkv_bias) model.obstacles.push_back("attention_in_multiplier");
    model.attention_multiplier = read * fields.number_or("attention_out_multiplier", 1);
    model.attention_scale = read * read * fields.positive_or("key_multiplier", 1) / std::sqrt(model.head_dim);
    const std::vector<double> of_mlp = read_factors(fields, "mlp_multipliers", 2);
    model.gate_multiplier = of_mlp[0];
    model.mlp_multiplier = of_mlp[1];
    const double all = fields.number_or("ssm_in_multiplier", 1);
    const std::vector<double> parts = read_factors(fields, "ssm_multipliers", 5);
    double* const factors[] = {&space.gates, &space.values, &space.keys, &space.queries, &space.steps};
    for (size_t i = 0; i < parts.size(); ++i) *factors[i] = all * parts[i];
    space.output = fields.number_or("ssm_out_multiplier", 1);
    // transformers' class reads none of these fields.
    for (const char* idle :
         {"attn_layer_indices", "mamba_use_mlp", "mlp_expansion_factor", "num_logits_to_keep"})
        fields.has(idle);
}

constexpr Rename kFalconH1Names[] = {{"post_attention_layernorm", "pre_ff_layernorm"},
                                     {"linear_attn.in_proj_qkvz", "mamba.in_proj"},
                                     {"linear_attn", "mamba"},
                                     {"mlp", "feed_forward"},
                                     {"model.norm", "model.final_layernorm"}};

const Family kFalconH1Table[] = {{.type = "falcon_h1",
                                  .describe = describe_falcon_h1,
                                  .kv_heads = 8,
                                  .max_position = 8192,
                                  .norm_eps = 1e-5,
                                  .names = kFalconH1Names,
                                  .padding_token = 0,
                                  .score_classes = ScoreClasses::None,
                                  .peft_refuses_out_proj = true}};

}  // namespace

const std::span<const Family> kFalconH1Families = kFalconH1Table;

}  // namespace ringmaster
