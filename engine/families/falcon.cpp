// Describes Falcon 7B: attention and MLP read one LayerNorm, and all query heads share one key head.
#include "engine/families/families.h"

namespace ringmaster {

namespace {

/// Gives all query heads one key head (multi-query attention), or each query head a separate one.
void describe_falcon(const ConfigFields& fields, ModelConfig& model) {
    model.layer_norms = model.norm_biases = true;
    model.gate.gated = false;
    model.qkv_bias = model.output_bias = model.mlp_bias = fields.flag_or("bias", false);
    model.parallel_blocks = fields.flag_or("parallel_attn", true);
    model.num_kv_heads = 1;
    if (!fields.flag_or("multi_query", true)) {
        model.num_kv_heads = model.num_heads;
        model.qkv_by_heads = true;
    }
    for (const char* key : {"new_decoder_architecture", "alibi"})
        if (fields.flag_or(key, false)) model.obstacles.push_back(key);
    if (fields.integer_or("num_ln_in_parallel_attn", 1, 100) != 1)
        model.obstacles.push_back("num_ln_in_parallel_attn");
    if (fields.integer_or("num_kv_heads", model.num_heads, 100'000) != model.num_heads &&
        model.num_kv_heads > 1)
        model.obstacles.push_back("num_kv_heads");
    fields.has("apply_residual_connection_post_layernorm");  // the class does not read this field
}

constexpr Rename kFalconNames[] = {{"model.embed_tokens", "model.word_embeddings"},
                                   {"self_attn.q_proj", "self_attention.query_key_value"},
                                   {"self_attn.k_proj", "self_attention.query_key_value"},
                                   {"self_attn.v_proj", "self_attention.query_key_value"},
                                   {"self_attn.o_proj", "self_attention.dense"},
                                   {"mlp.up_proj", "mlp.dense_h_to_4h"},
                                   {"mlp.down_proj", "mlp.dense_4h_to_h"},
                                   {"model.norm", "model.ln_f"}};

const Family kFalconTable[] = {{.type = "falcon",
                                .describe = describe_falcon,
                                .norm_eps = 1e-5,
                                .tied = true,
                                .activation = "gelu",
                                .activation_field = "activation",
                                .width_field = "ffn_hidden_size",
                                .norm_eps_field = "layer_norm_epsilon",
                                .names = kFalconNames,
                                .body = "transformer.",
                                .layers = "h",
                                .widths_of_hidden = 4}};

}  // namespace

const std::span<const Family> kFalconFamilies = kFalconTable;

}  // namespace ringmaster
