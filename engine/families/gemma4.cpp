#include <cmath>

#include "engine/families/families.h"
#include "engine/families/read_rope.h"

namespace ringmaster {

namespace {

void describe_dense(const ConfigFields& fields, ModelConfig& model) {
    model.qkv_bias = model.output_bias = fields.flag_or("attention_bias", false);
    model.norms_outputs = model.norms_values = model.layer_scalars = true;
    model.qk_norm = QkNorm::PerHead;
    model.embedding_multiplier = std::sqrt(double(model.hidden_size));
    model.rounds_embedding_multiplier = true;
    model.attention_scale = 1;
    if (fields.has("final_logit_softcapping") && !fields.is_null("final_logit_softcapping"))
        model.logit_softcap = fields.positive_or("final_logit_softcapping", 30);
    // Gemma 4's class gives the last layer full attention, regardless of layer_types.
    read_layer_types(fields, model, read_window(fields, 512), 6, 1);
    if (!model.layers.empty()) model.layers.back() = {};
    model.ropes.push_back(read_window_rope(fields, 1e4));
    read_global_heads(fields, model, 512);
    expect_text(fields, model, "use_bidirectional_attention", "vision");
    read_shared_keys(fields, model);
}

void describe_gemma4(const ConfigFields& fields, ModelConfig& model) {
    describe_dense(fields, model);
    read_layer_inputs(fields, model);
    for (const char* of_experts : {"num_experts", "top_k_experts", "moe_intermediate_size"})
        fields.has(of_experts);
    if (!fields.flag_or("enable_moe_block", false)) return;
    model.num_experts = fields.integer("num_experts", 1'000'000);
    model.experts_per_token = fields.integer("top_k_experts", model.num_experts);
    model.expert_intermediate_size = fields.integer("moe_intermediate_size", 10'000'000);
    model.experts_beside_mlp = model.norms_expert_weights = true;
    model.router = {.norms_input = true, .scales_experts = true, .has_loss = false};
}

constexpr Rename kGemma4Names[] = {{"attention_output_norm", "post_attention_layernorm"},
                                   {"post_attention_layernorm", "pre_feedforward_layernorm"},
                                   {"mlp_output_norm", "post_feedforward_layernorm"},
                                   {"mlp_part_norm", "post_feedforward_layernorm_1"},
                                   {"experts_norm", "pre_feedforward_layernorm_2"},
                                   {"experts_part_norm", "post_feedforward_layernorm_2"},
                                   {"mlp.experts", "experts"}};

constexpr const char* kGlobalRope =
    R"({"rope_type": "proportional", "partial_rotary_factor": 0.25, "rope_theta": 1000000.0})";

Family family(const char* type, void (*describe)(const ConfigFields&, ModelConfig&), int64_t longest) {
    Family family{.type = type, .describe = describe, .kv_heads = 4, .head_dim = 256};
    family.max_position = longest;
    family.tied = true;
    family.activation = "gelu_pytorch_tanh";
    family.activation_field = "hidden_activation";
    family.names = kGemma4Names;
    family.default_rope = kGlobalRope;
    family.padding_token = 0;
    family.experts = {.experts = ""};
    family.score_classes = ScoreClasses::None;
    return family;
}

const Family kGemma4Table[] = {family("gemma4_text", describe_gemma4, 131072),
                               family("gemma4_unified_text", describe_dense, 262144)};

constexpr Wrapper kGemma4WrapperTable[] = {
    {"gemma4", "gemma4_text", "model.language_model."},
    {"gemma4_unified", "gemma4_unified_text", "model.language_model."}};

}  // namespace

const std::span<const Family> kGemma4Families = kGemma4Table;
const std::span<const Wrapper> kGemma4Wrappers = kGemma4WrapperTable;

}  // namespace ringmaster
