#include "engine/families/families.h"

namespace ringmaster {

namespace {

void describe_glm_experts(const ConfigFields& fields, ModelConfig& model) {
    model.qkv_bias = fields.flag_or("attention_bias", false);
    if (fields.flag_or("use_qk_norm", false)) model.qk_norm = QkNorm::PerHead;
    model.router = kCorrectedRouter;
    read_grouped_experts(fields, model, {.experts = {128, 8, 1408}});
}

void describe_glm_lite(const ConfigFields& fields, ModelConfig& model) {
    model.router = kCorrectedRouter;
    expect_text(fields, model, "topk_method", "noaux_tc");
    read_latents(fields, model, {768, 512, 64, 192, 256});
    read_grouped_experts(fields, model, {.experts = {64, 4, 1536}, .scale = 1.8});
}

void describe_deepseek_v3(const ConfigFields& fields, ModelConfig& model) {
    model.router = kCorrectedRouter;
    expect_text(fields, model, "topk_method", "noaux_tc");
    expect_text(fields, model, "scoring_func", "sigmoid");
    read_latents(fields, model, {1536, 512, 64, 128, 128});
    read_grouped_experts(
        fields, model,
        {.experts = {256, 8, 2048}, .dense_layers = 3, .groups = 8, .chosen_groups = 4, .scale = 2.5});
}

/// Describes DeepSeek-V2. Its class never divides the weights of experts by their sum, and forms groups of
/// experts only if topk_method is group_limited_greedy.
void describe_deepseek_v2(const ConfigFields& fields, ModelConfig& model) {
    model.router = {.in_float32 = true, .has_loss = false};
    const bool is_greedy = fields.text_or("topk_method", "greedy") == "greedy";
    if (!is_greedy) expect_text(fields, model, "topk_method", "group_limited_greedy");
    expect_text(fields, model, "scoring_func", "softmax");
    read_latents(fields, model, {1536, 512, 64, 128, 128});
    read_grouped_experts(fields, model,
                         {.experts = {64, 0, 1407}, .shared_experts = 2, .dense_layers = 0, .norms = false});
    if (is_greedy) model.router.groups = model.router.chosen_groups = 1;
    if (model.norms_expert_weights) model.obstacles.push_back("norm_topk_prob");
}

const Family kGroupedExpertTable[] = {{.type = "glm4_moe",
                                       .describe = describe_glm_experts,
                                       .kv_heads = 8,
                                       .max_position = 131072,
                                       .norm_eps = 1e-5,
                                       .rotary_share = 0.5,
                                       .names = kSharedExperts,
                                       .expert_targets = kQwenTargets,
                                       .score_classes = ScoreClasses::None},
                                      {.type = "glm4_moe_lite",
                                       .describe = describe_glm_lite,
                                       .head_dim = 64,
                                       .max_position = 202752,
                                       .norm_eps = 1e-5,
                                       .names = kSharedExperts,
                                       .expert_targets = kQwenTargets,
                                       .score_classes = ScoreClasses::None},
                                      {.type = "deepseek_v2",
                                       .describe = describe_deepseek_v2,
                                       .head_dim = 64,
                                       .names = kSharedExperts,
                                       .expert_targets = kQwenTargets,
                                       .score_classes = ScoreClasses::OfSequences},
                                      {.type = "deepseek_v3",
                                       .describe = describe_deepseek_v3,
                                       .head_dim = 64,
                                       .max_position = 4096,
                                       .names = kSharedExperts,
                                       .expert_targets = kQwenTargets}};

}  // namespace

const std::span<const Family> kGroupedExpertFamilies = kGroupedExpertTable;

}  // namespace ringmaster
