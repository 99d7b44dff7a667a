// Describes LFM2: short convolutions between two gates take attention's place in most layers.
#include "engine/families/families.h"

namespace ringmaster {

namespace {

/// Sets the MLP's width to two thirds of the file's, times a factor, rounded up to a multiple.
void describe_lfm2(const ConfigFields& fields, ModelConfig& model) {
    read_convolutions(fields, model);
    const int64_t multiple = fields.integer_or("block_multiple_of", 256, 1'000'000);
    const double factor = fields.positive_or("block_ffn_dim_multiplier", 1);
    int64_t& width = model.intermediate_size;
    width = fields.integer_or("block_ff_dim", width, 10'000'000);
    if (!fields.flag_or("block_auto_adjust_ff_dim", true)) return;
    width = static_cast<int64_t>(factor * double(2 * width / 3));
    width = (width + multiple - 1) / multiple * multiple;
}

void describe_lfm2_moe(const ConfigFields& fields, ModelConfig& model) {
    read_convolutions(fields, model);
    model.router = {.sigmoid = true, .corrects = true, .least_sum = 1e-6, .has_loss = false};
    if (!fields.flag_or("use_expert_bias", true)) model.obstacles.push_back("use_expert_bias");
    read_experts(fields, model, {32, 4, 1792});
    if (model.adds_router_loss) model.obstacles.push_back("output_router_logits");
    model.norms_expert_weights = fields.flag_or("norm_topk_prob", true);
    model.router.scale = fields.positive_or("routed_scaling_factor", 1);
    const double dense = fields.number_or("num_dense_layers", 2);
    for (size_t layer = 0; layer < model.layers.size() && double(layer) < dense; ++layer)
        model.layers[layer].dense = true;
}

constexpr Rename kLfmNames[] = {{"input_layernorm", "operator_norm"},
                                {"post_attention_layernorm", "ffn_norm"},
                                {"self_attn.q_norm", "self_attn.q_layernorm"},
                                {"self_attn.k_norm", "self_attn.k_layernorm"},
                                {"self_attn.o_proj", "self_attn.out_proj"},
                                {"linear_attn.in_proj_qkvz", "conv.in_proj"},
                                {"linear_attn.conv1d", "conv.conv"},
                                {"linear_attn.out_proj", "conv.out_proj"},
                                {"mlp.gate_proj", "feed_forward.w1"},
                                {"mlp.up_proj", "feed_forward.w3"},
                                {"mlp.down_proj", "feed_forward.w2"},
                                {"mlp.gate", "feed_forward.gate"},
                                {"mlp.gate.e_score_correction_bias", "feed_forward.expert_bias"},
                                {"mlp.experts.gate_up_proj", "feed_forward.experts.gate_up_proj"},
                                {"mlp.experts.down_proj", "feed_forward.experts.down_proj"},
                                {"model.norm", "model.embedding_norm"}};

Family lfm(const char* type, decltype(Family::describe) describe) {
    return {.type = type,
            .describe = describe,
            .kv_heads = 8,
            .max_position = 128000,
            .norm_eps = 1e-5,
            .rope_theta = 1e6,
            .tied = true,
            .norm_eps_field = "norm_eps",
            .names = kLfmNames,
            .padding_token = 0,
            .experts = {"feed_forward.gate", "feed_forward.experts", "w1", "w3", "w2"},
            .score_classes = ScoreClasses::None};
}

const Family kLfmTable[] = {lfm("lfm2", describe_lfm2), lfm("lfm2_moe", describe_lfm2_moe)};

}  // namespace

const std::span<const Family> kLfmFamilies = kLfmTable;

}  // namespace ringmaster
