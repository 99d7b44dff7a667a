#include "engine/families/families.h"

namespace ringmaster {

namespace {

void describe_granite(const ConfigFields& fields, ModelConfig& model) {
    model.qkv_bias = model.output_bias = fields.flag_or("attention_bias", false);
    model.mlp_bias = fields.flag_or("mlp_bias", false);
    model.embedding_multiplier = fields.number_or("embedding_multiplier", 1);
    model.residual_multiplier = fields.number_or("residual_multiplier", 1);
    model.attention_scale = fields.positive_or("attention_multiplier", 1);
    model.logit_multiplier = 1 / fields.positive_or("logits_scaling", 1);
}

const Family kFamilies[] = {
    {.type = "granite", .describe = describe_granite, .score_classes = ScoreClasses::None}};

}  // namespace

const std::span<const Family> kGraniteFamilies = kFamilies;

}  // namespace ringmaster
