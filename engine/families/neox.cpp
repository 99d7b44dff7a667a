// Describes GPT-NeoX, and with it Pythia: one matrix holds the queries, keys and values of each head in turn.
#include "engine/families/families.h"

namespace ringmaster {

namespace {

void describe_neox(const ConfigFields& fields, ModelConfig& model) {
    model.layer_norms = model.norm_biases = model.mlp_bias = model.qkv_by_heads = true;
    model.gate.gated = false;
    model.qkv_bias = model.output_bias = fields.flag_or("attention_bias", true);
    model.parallel_blocks = model.parallel_norms = fields.flag_or("use_parallel_residual", true);
    // transformers' class ignores these two fields, which old files have.
    for (const char* idle : {"attention_probs_dropout_prob", "hidden_dropout_prob"}) fields.has(idle);
    if (model.num_kv_heads != model.num_heads) model.obstacles.push_back("num_key_value_heads");
}

constexpr Rename kNeoxNames[] = {{"model.embed_tokens", "model.embed_in"},
                                 {"self_attn.q_proj", "attention.query_key_value"},
                                 {"self_attn.k_proj", "attention.query_key_value"},
                                 {"self_attn.v_proj", "attention.query_key_value"},
                                 {"self_attn.o_proj", "attention.dense"},
                                 {"mlp.up_proj", "mlp.dense_h_to_4h"},
                                 {"mlp.down_proj", "mlp.dense_4h_to_h"},
                                 {"model.norm", "model.final_layer_norm"},
                                 {"lm_head", "embed_out"}};

const Family kNeoxTable[] = {{.type = "gpt_neox",
                              .describe = describe_neox,
                              .norm_eps = 1e-5,
                              .rotary_share = 0.25,
                              .activation = "gelu",
                              .norm_eps_field = "layer_norm_eps",
                              .rope_theta_field = "rotary_emb_base",
                              .rotary_share_field = "rotary_pct",
                              .names = kNeoxNames,
                              .body = "gpt_neox."}};

}  // namespace

const std::span<const Family> kNeoxFamilies = kNeoxTable;

}  // namespace ringmaster
