#include <cmath>

#include "engine/families/families.h"

namespace ringmaster {

namespace {

void describe_gemma(const ConfigFields& fields, ModelConfig& model) {
    model.qkv_bias = model.output_bias = fields.flag_or("attention_bias", false);
    model.norm_adds_one = true;
    model.embedding_multiplier = std::sqrt(double(model.hidden_size));
    model.rounds_embedding_multiplier = true;
    // The released config.json files name "gelu", but the models use the tanh approximation, as
    // configuration_gemma.py explains.
    if (model.gate.activation == Activation::Gelu) model.gate.activation = Activation::GeluTanh;
}

const Family kGemmaTable[] = {{.type = "gemma",
                               .describe = describe_gemma,
                               .kv_heads = 16,
                               .head_dim = 256,
                               .max_position = 8192,
                               .tied = true,
                               .activation = "gelu_pytorch_tanh",
                               .padding_token = 0}};

}  // namespace

const std::span<const Family> kGemmaFamilies = kGemmaTable;

}  // namespace ringmaster
