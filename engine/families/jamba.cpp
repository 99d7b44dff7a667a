// Describes Jamba: most layers are state spaces (Mamba-1), the others have attention without positions. Every
// layer also has an MLP or experts. Source: Lieber et al. 2024, arXiv 2403.19887.
#include "engine/families/families.h"

namespace ringmaster {

namespace {

/// Selects the layers that have a part: those whose index is `offset` above a multiple of `period`.
struct Places {
    int64_t period, offset;

    bool has(int64_t layer) const { return layer % period == offset; }
};

Places read_places(const ConfigFields& fields, const char* period_field, const char* offset_field,
                   Places otherwise) {
    const int64_t period = fields.integer_or(period_field, otherwise.period, 1'000'000);
    const double offset = fields.number_or(offset_field, double(otherwise.offset));
    if (!(offset >= 0 && offset < double(period)) || offset != double(static_cast<int64_t>(offset)))
        fields.refuse("'" + std::string(offset_field) + "' is not a whole number from 0 to below '" +
                      period_field + "'");
    return {period, static_cast<int64_t>(offset)};
}

void describe_jamba(const ConfigFields& fields, ModelConfig& model) {
    read_selective_space(fields, model);
    const Places attends = read_places(fields, "attn_layer_period", "attn_layer_offset", {8, 4});
    const Places mixes = read_places(fields, "expert_layer_period", "expert_layer_offset", {2, 1});
    std::vector<std::string> parts;
    for (int64_t layer = 0; layer < model.num_layers; ++layer)
        parts.push_back(attends.has(layer) ? "full_attention" : "linear_attention");
    set_layer_parts(fields, model, parts, -1, false);
    const char* count = fields.has("num_local_experts") ? "num_local_experts" : "num_experts";
    if (fields.number_or(count, 16) == 1)
        fields.ignore("num_experts_per_tok output_router_logits router_aux_loss_coef");  // fields of experts
    else
        read_experts(fields, model, {16, 2});
    for (int64_t layer = 0; layer < model.num_layers; ++layer)
        model.layers[static_cast<size_t>(layer)].dense = !mixes.has(layer);
    if (model.sparse_layers() == 0) model.num_experts = 0;
    // transformers' class always normalises what the Mamba layers call B, C and dt, and ignores the fields
    // below.
    if (!fields.flag_or("mamba_inner_layernorms", true)) model.obstacles.push_back("mamba_inner_layernorms");
    fields.ignore(
        "use_mamba_kernels use_mambapy use_associative_scan num_logits_to_keep "
        "calc_logits_for_entire_prompt n_ctx");
}

constexpr Rename kJambaNames[] = {{"post_attention_layernorm", "pre_ff_layernorm"},
                                  {"linear_attn.in_proj_qkvz", "mamba.in_proj"},
                                  {"linear_attn", "mamba"},
                                  {"mlp.gate", "feed_forward.router"},
                                  {"mlp", "feed_forward"},
                                  {"model.norm", "model.final_layernorm"}};

const Family kJambaTable[] = {{.type = "jamba",
                               .describe = describe_jamba,
                               .kv_heads = 8,
                               .max_position = 262144,
                               .names = kJambaNames,
                               .padding_token = 0,
                               .experts = {"feed_forward.router", "feed_forward.experts"},
                               .score_classes = ScoreClasses::OfSequences}};

}  // namespace

const std::span<const Family> kJambaFamilies = kJambaTable;

}  // namespace ringmaster
