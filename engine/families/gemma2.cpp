#include <cmath>

#include "engine/families/families.h"
#include "engine/families/read_rope.h"

namespace ringmaster {

namespace {

void read_softcaps(const ConfigFields& fields, ModelConfig& model, double scores, double logits) {
    const auto cap = [&](const char* key, double otherwise) {
        return fields.is_null(key) ? 0 : fields.positive_or(key, otherwise);
    };
    model.score_softcap =
        fields.has("attn_logit_softcapping") ? cap("attn_logit_softcapping", scores) : scores;
    model.logit_softcap =
        fields.has("final_logit_softcapping") ? cap("final_logit_softcapping", logits) : logits;
}

void describe_sandwich(const ConfigFields& fields, ModelConfig& model) {
    model.qkv_bias = model.output_bias = fields.flag_or("attention_bias", false);
    model.norm_adds_one = model.norms_outputs = model.rounds_embedding_multiplier = true;
    model.embedding_multiplier = std::sqrt(double(model.hidden_size));
    model.attention_scale = 1 / std::sqrt(fields.positive_or("query_pre_attn_scalar", 256));
}

void describe_gemma2(const ConfigFields& fields, ModelConfig& model) {
    describe_sandwich(fields, model);
    read_softcaps(fields, model, 50, 30);
    read_layer_types(fields, model, read_window(fields, 4096), 2);
}

void describe_gemma3(const ConfigFields& fields, ModelConfig& model) {
    describe_sandwich(fields, model);
    read_softcaps(fields, model, 0, 0);
    model.qk_norm = QkNorm::PerHead;
    const int64_t pattern = fields.integer_or(
        fields.has("_sliding_window_pattern") ? "_sliding_window_pattern" : "sliding_window_pattern", 6,
        10'000);
    read_layer_types(fields, model, read_window(fields, 4096), pattern, 1);
    model.ropes.push_back(read_window_rope(fields, fields.positive_or("rope_local_base_freq", 1e4)));
}

constexpr Rename kSandwichNames[] = {{"attention_output_norm", "post_attention_layernorm"},
                                     {"post_attention_layernorm", "pre_feedforward_layernorm"},
                                     {"mlp_output_norm", "post_feedforward_layernorm"}};

const Family kGemmaSandwichTable[] = {
    {.type = "gemma2",
     .describe = describe_gemma2,
     .kv_heads = 4,
     .head_dim = 256,
     .max_position = 8192,
     .tied = true,
     .activation = "gelu_pytorch_tanh",
     .activation_field = "hidden_activation",
     .names = kSandwichNames,
     .padding_token = 0},
    {.type = "gemma3_text",
     .describe = describe_gemma3,
     .kv_heads = 4,
     .head_dim = 256,
     .max_position = 131072,
     .rope_theta = 1e6,
     .tied = true,
     .activation = "gelu_pytorch_tanh",
     .activation_field = "hidden_activation",
     .names = kSandwichNames,
     .padding_token = 0,
     .score_classes = ScoreClasses::OfSequences},
};

constexpr Wrapper kGemmaSandwichWrapperTable[] = {{"gemma3", "gemma3_text", "model.language_model."}};

}  // namespace

const std::span<const Family> kGemmaSandwichFamilies = kGemmaSandwichTable;
const std::span<const Wrapper> kGemmaWrappers = kGemmaSandwichWrapperTable;

}  // namespace ringmaster
