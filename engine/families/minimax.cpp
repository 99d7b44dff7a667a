// Describes MiniMax M2: it normalises queries and keys over all heads together, and scores experts by
// sigmoids.
#include <algorithm>

#include "engine/families/families.h"
#include "engine/families/read_rope.h"

namespace ringmaster {

namespace {

void describe_minimax_m2(const ConfigFields& fields, ModelConfig& model) {
    model.qk_norm = QkNorm::Whole;
    model.router = {.sigmoid = true, .corrects = true, .has_loss = false};
    model.norms_expert_weights = true;
    read_experts(fields, model, {256, 8});
    if (model.adds_router_loss) model.obstacles.push_back("output_router_logits");
    const int64_t turned = model.ropes.front().rotary_dim;
    read_rotary_dim(fields, model, turned > 0 ? turned : model.head_dim);
    expect_text(fields, model, "scoring_func", "sigmoid");
    expect_text(fields, model, "qk_norm_type", "per_layer");
    for (const char* always : {"use_qk_norm", "use_routing_bias"})
        if (!fields.flag_or(always, true)) model.obstacles.push_back(always);
    if (fields.has("attn_type_list") && !fields.is_null("attn_type_list")) {
        const nlohmann::json& types = fields.values()["attn_type_list"];
        if (!std::all_of(types.begin(), types.end(), [](const auto& type) { return type == 1; }))
            model.obstacles.push_back("attn_type_list");
    }
    // The class has no heads that predict later tokens (MTP).
    for (const char* idle : {"use_mtp", "num_mtp_modules", "mtp_transformer_layers"}) fields.has(idle);
}

constexpr Rename kMinimaxNames[] = {
    {"mlp.gate.e_score_correction_bias", "block_sparse_moe.e_score_correction_bias"}};

const Family kMinimaxTable[] = {
    {.type = "minimax_m2",
     .describe = describe_minimax_m2,
     .kv_heads = 8,
     .head_dim = 128,
     .max_position = 196608,
     .rope_theta = 5e6,
     .names = kMinimaxNames,
     .experts = {"block_sparse_moe.gate", "block_sparse_moe.experts", "w1", "w3", "w2"},
     .expert_targets = kMixtralTargets}};

}  // namespace

const std::span<const Family> kMinimaxFamilies = kMinimaxTable;

}  // namespace ringmaster
