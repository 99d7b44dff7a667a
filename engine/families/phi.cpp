#include "engine/families/families.h"

namespace ringmaster {

namespace {

void describe_phi3(const ConfigFields& fields, ModelConfig& model) {
    model.sliding_window = read_window(fields, std::nullopt);
    // The first field is unused without longrope. Files contain attention_bias, but the class has no bias.
    for (const char* idle : {"original_max_position_embeddings", "attention_bias"}) fields.has(idle);
}

/// Describes Phi-1 and Phi-2: parallel attention and MLP under one LayerNorm.
void describe_phi(const ConfigFields& fields, ModelConfig& model) {
    model.layer_norms = model.norm_biases = model.parallel_blocks = model.head_bias = true;
    model.qkv_bias = model.output_bias = model.mlp_bias = true;
    model.gate.gated = false;
    if (fields.flag_or("qk_layernorm", false)) model.obstacles.push_back("qk_layernorm");
}

constexpr Rename kPhi3Names[] = {{"self_attn.q_proj", "self_attn.qkv_proj"},
                                 {"self_attn.k_proj", "self_attn.qkv_proj"},
                                 {"self_attn.v_proj", "self_attn.qkv_proj"},
                                 {"mlp.gate_proj", "mlp.gate_up_proj"},
                                 {"mlp.up_proj", "mlp.gate_up_proj"}};

constexpr Rename kPhiNames[] = {{"self_attn.o_proj", "self_attn.dense"},
                                {"mlp.up_proj", "mlp.fc1"},
                                {"mlp.down_proj", "mlp.fc2"},
                                {"model.norm", "model.final_layernorm"}};

const Family kPhiTable[] = {
    {.type = "phi3",
     .describe = describe_phi3,
     .max_position = 4096,
     .norm_eps = 1e-5,
     .names = kPhi3Names,
     .padding_token = 32000},
    {.type = "phi",
     .describe = describe_phi,
     .norm_eps = 1e-5,
     .rotary_share = 0.5,
     .activation = "gelu_new",
     .norm_eps_field = "layer_norm_eps",
     .names = kPhiNames},
};

}  // namespace

const std::span<const Family> kPhiFamilies = kPhiTable;

}  // namespace ringmaster
