// Describes Nemotron-H: each layer is a state space (Mamba-2), attention, an MLP, or experts without gates.
#include "engine/families/families.h"

namespace ringmaster {

namespace {

constexpr const char* kLetters = "hybrid_override_pattern";

int64_t layers_of(const ConfigFields& fields) {
    return static_cast<int64_t>(read_layer_parts(fields, kLetters).size());
}

void describe_nemotron_h(const ConfigFields& fields, ModelConfig& model) {
    model.gate.gated = false;
    model.padding_token.reset();
    read_state_space(fields, model,
                     {.of_head = 64, .groups = 8, .state = 128, .activation_field = "mamba_hidden_act"});
    model.delta.state_space.norm_groups = model.delta.key_heads;
    model.delta.state_space.least_step = fields.number_or("time_step_min", 0.001);
    model.mlp_bias = fields.flag_or("mlp_bias", false);
    model.router = kCorrectedRouter;
    read_grouped_experts(fields, model, {.experts = {8, 2, 7688}, .dense_layers = 0});
    model.shared_expert_intermediate_size =
        fields.integer_or("moe_shared_expert_intermediate_size", 7688, 10'000'000);
    set_layer_parts(fields, model, read_layer_parts(fields, kLetters), -1, true);
    if (model.sparse_layers() == 0) model.num_experts = model.shared_expert_intermediate_size = 0;
    if (model.num_experts > 0 && model.mlp_bias) model.obstacles.push_back("mlp_bias");
    if (const int64_t width = fields.integer_or("moe_latent_size", 0, 10'000'000); model.num_experts > 0)
        model.expert_latent_size = width;
    if (model.tie_word_embeddings) model.obstacles.push_back("tie_word_embeddings");
    // The class reads these fields only to initialize new weights, or never.
    fields.ignore(
        "attention_bias attention_head_dim hidden_dropout chunk_size expand norm_eps mamba_ssm_cache_dtype "
        "num_hidden_layers moe_shared_expert_overlap use_mamba_kernels mtp_hybrid_override_pattern "
        "rope_theta "
        "mtp_layers_block_type num_logits_to_keep partial_rotary_factor residual_in_fp32 time_step_floor "
        "rescale_prenorm_residual time_step_limit time_step_max");
}

constexpr Rename kFields[] = {{"mamba_n_heads", "mamba_num_heads"}, {"mamba_d_head", "mamba_head_dim"},
                              {"mamba_n_groups", "n_groups"},       {"mamba_d_state", "ssm_state_size"},
                              {"mamba_d_conv", "conv_kernel"},      {"mamba_conv_bias", "use_conv_bias"},
                              {"mamba_proj_bias", "use_bias"}};
constexpr Rename kNemotronHNames[] = {{"input_layernorm", "norm"},
                                      {"post_attention_layernorm", "norm"},
                                      {"self_attn", "mixer"},
                                      {"linear_attn.in_proj_qkvz", "mixer.in_proj"},
                                      {"linear_attn", "mixer"},
                                      {"mlp.experts.gate_up_proj", "mixer.experts.up_proj"},
                                      {"mlp.shared_expert", "mixer.shared_experts"},
                                      {"mlp", "mixer"},
                                      {"model.embed_tokens", "model.embeddings"},
                                      {"model.norm", "model.norm_f"}};

const Family kNemotronHTable[] = {{.type = "nemotron_h",
                                   .describe = describe_nemotron_h,
                                   .kv_heads = 8,
                                   .head_dim = 128,
                                   .max_position = 4096,
                                   .norm_eps = 1e-5,
                                   .activation = "relu2",
                                   .activation_field = "mlp_hidden_act",
                                   .norm_eps_field = "layer_norm_epsilon",
                                   .names = kNemotronHNames,
                                   .body = "backbone.",
                                   .peft_says_model = true,
                                   .fields = kFields,
                                   .experts = {"mixer.gate", "mixer.experts", ""},
                                   .score_classes = ScoreClasses::None,
                                   .peft_refuses_out_proj = true,
                                   .layers_of = layers_of}};

}  // namespace

const std::span<const Family> kNemotronHFamilies = kNemotronHTable;

}  // namespace ringmaster
