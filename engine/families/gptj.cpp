// Describes GPT-J: attention and MLP read one LayerNorm, and config.json uses GPT-2's key names.
#include "engine/families/families.h"
#include "engine/families/read_rope.h"

namespace ringmaster {

namespace {

void describe_gptj(const ConfigFields& fields, ModelConfig& model) {
    model.layer_norms = model.norm_biases = model.mlp_bias = true;
    model.parallel_blocks = model.head_bias = true;
    model.gate.gated = false;
    model.ropes.front().interleaved = true;
    read_rotary_dim(fields, model, 64);
    if (fields.is_null("rotary_dim")) model.obstacles.push_back("rotary_dim");
    // transformers' class reads none of these fields.
    for (const char* idle : {"rotary", "scale_attn_weights", "gradient_checkpointing", "summary_type",
                             "summary_first_dropout", "summary_proj_to_labels", "summary_use_proj"})
        fields.has(idle);
}

constexpr Rename kGptjNames[] = {{"model.embed_tokens", "model.wte"}, {"input_layernorm", "ln_1"},
                                 {"self_attn.q_proj", "attn.q_proj"}, {"self_attn.k_proj", "attn.k_proj"},
                                 {"self_attn.v_proj", "attn.v_proj"}, {"self_attn.o_proj", "attn.out_proj"},
                                 {"mlp.up_proj", "mlp.fc_in"},        {"mlp.down_proj", "mlp.fc_out"},
                                 {"model.norm", "model.ln_f"}};

constexpr Rename kGptjFields[] = {{"hidden_size", "n_embd"},
                                  {"num_hidden_layers", "n_layer"},
                                  {"num_attention_heads", "n_head"},
                                  {"max_position_embeddings", "n_positions"}};

const Family kGptjTable[] = {{.type = "gptj",
                              .describe = describe_gptj,
                              .norm_eps = 1e-5,
                              .activation = "gelu_new",
                              .activation_field = "activation_function",
                              .width_field = "n_inner",
                              .norm_eps_field = "layer_norm_epsilon",
                              .names = kGptjNames,
                              .body = "transformer.",
                              .layers = "h",
                              .fields = kGptjFields,
                              .widths_of_hidden = 4,
                              .score_classes = ScoreClasses::OfSequences}};

}  // namespace

const std::span<const Family> kGptjFamilies = kGptjTable;

}  // namespace ringmaster
