// Describes Granite 3 and 4, which multiply embeddings, residuals, attention scores and logits by factors.
// Most layers of Granite 4 are state spaces (Mamba-2).
#include "engine/families/families.h"

namespace ringmaster {

namespace {

void read_multipliers(const ConfigFields& fields, ModelConfig& model) {
    model.qkv_bias = model.output_bias = fields.flag_or("attention_bias", false);
    model.embedding_multiplier = fields.number_or("embedding_multiplier", 1);
    model.residual_multiplier = fields.number_or("residual_multiplier", 1);
    model.attention_scale = fields.positive_or("attention_multiplier", 1);
    model.logit_multiplier = 1 / fields.positive_or("logits_scaling", 1);
}

void describe_granite(const ConfigFields& fields, ModelConfig& model) {
    read_multipliers(fields, model);
    model.mlp_bias = fields.flag_or("mlp_bias", false);
}

/// Describes hybrids, in which each layer has a shared MLP, alone or with experts. Queries and keys are
/// rotated only if position_embedding_type is "rope".
void describe_hybrid(const ConfigFields& fields, ModelConfig& model) {
    read_multipliers(fields, model);
    read_state_space(fields, model, {});
    model.delta.state_space.norm_groups = model.delta.key_heads;
    std::vector<std::string> parts = read_layer_parts(fields);
    if (parts.empty()) parts.assign(static_cast<size_t>(model.num_layers), "linear_attention");
    const bool turns = fields.text_or("position_embedding_type", "") == "rope";
    set_layer_parts(fields, model, parts, turns ? 0 : -1, false);
    const int64_t shared = fields.integer_or("shared_intermediate_size", 1024, 10'000'000);
    if (fields.number_or("num_local_experts", 8) == 0) {
        model.intermediate_size = shared;
        fields.ignore("num_experts_per_tok output_router_logits router_aux_loss_coef");  // fields of experts
    } else {
        model.norms_expert_weights = true;
        model.gates_shared_expert = false;
        read_experts(fields, model, {8, 2});
        model.shared_expert_intermediate_size = shared;
    }
    // transformers' class reads neither field.
    fields.ignore("init_method normalization_function");
}

constexpr Rename kGraniteNames[] = {{"linear_attn.in_proj_qkvz", "mamba.in_proj"},
                                    {"linear_attn", "mamba"},
                                    {"mlp.gate_proj", "shared_mlp.input_linear"},
                                    {"mlp.up_proj", "shared_mlp.input_linear"},
                                    {"mlp.down_proj", "shared_mlp.output_linear"},
                                    {"mlp.shared_expert.gate_proj", "shared_mlp.input_linear"},
                                    {"mlp.shared_expert.up_proj", "shared_mlp.input_linear"},
                                    {"mlp.shared_expert.down_proj", "shared_mlp.output_linear"},
                                    {"mlp.gate", "block_sparse_moe.router"},
                                    {"mlp.experts", "block_sparse_moe.experts"}};

const Family kGraniteTable[] = {
    {.type = "granite", .describe = describe_granite, .score_classes = ScoreClasses::None},
    {.type = "granitemoehybrid",
     .describe = describe_hybrid,
     .names = kGraniteNames,
     .experts = {"block_sparse_moe.router.layer", "block_sparse_moe", "input_linear", "", "output_linear",
                 true},
     .score_classes = ScoreClasses::None}};

}  // namespace

const std::span<const Family> kGraniteFamilies = kGraniteTable;

}  // namespace ringmaster
