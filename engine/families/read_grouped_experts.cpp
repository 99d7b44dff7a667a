// Reads mixtures of experts and latent attention whose fields are named as in DeepSeek's models.
#include <algorithm>
#include <cmath>

#include "engine/families/families.h"

namespace ringmaster {

namespace {

constexpr int64_t kMostExperts = 1'000'000;

/// Returns, for each layer, true if `mlp_layer_types` gives it an MLP instead of experts.
std::vector<bool> named_layers(const ConfigFields& fields, int64_t layers) {
    const nlohmann::json& types = fields.values()["mlp_layer_types"];
    if (!types.is_array() || types.size() != static_cast<size_t>(layers))
        fields.refuse("'mlp_layer_types' does not have an entry a layer");
    std::vector<bool> dense;
    for (const nlohmann::json& type : types) {
        if (type != "dense" && type != "sparse")
            fields.refuse("'mlp_layer_types' holds something else than 'dense' and 'sparse'");
        dense.push_back(type == "dense");
    }
    return dense;
}

void read_dense_layers(const ConfigFields& fields, ModelConfig& model, int64_t otherwise) {
    const auto first = static_cast<int64_t>(
        std::clamp(fields.number_or("first_k_dense_replace", double(otherwise)), 0.0, double(kMostExperts)));
    std::vector<bool> dense(static_cast<size_t>(model.num_layers));
    std::fill_n(dense.begin(), std::min(first, model.num_layers), true);
    if (fields.has("mlp_layer_types") && !fields.is_null("mlp_layer_types")) {
        const std::vector<bool> named = named_layers(fields, model.num_layers);
        if (fields.has("first_k_dense_replace") && named != dense)
            model.obstacles.push_back("mlp_layer_types");
        dense = named;
    }
    if (std::find(dense.begin(), dense.end(), true) == dense.end()) return;
    for (const bool is_dense : dense) model.layers.emplace_back().dense = is_dense;
}

void read_groups(const ConfigFields& fields, ModelConfig& model, const GroupedDefaults& defaults) {
    RouterRule& router = model.router;
    router.groups = fields.integer_or("n_group", defaults.groups, kMostExperts);
    router.chosen_groups = fields.integer_or("topk_group", defaults.chosen_groups, kMostExperts);
    router.scale = fields.positive_or("routed_scaling_factor", defaults.scale);
    const int64_t of_group = model.num_experts / router.groups;
    if (model.num_experts % router.groups != 0 || of_group < router.best_of_group)
        fields.refuse("'n_group' does not divide the experts into groups of at least " +
                      std::to_string(router.best_of_group));
    if (router.chosen_groups > router.groups || model.experts_per_token > router.chosen_groups * of_group)
        fields.refuse("'topk_group' groups do not have 'num_experts_per_tok' experts");
}

}  // namespace

void read_grouped_experts(const ConfigFields& fields, ModelConfig& model, const GroupedDefaults& defaults) {
    model.num_experts = fields.integer_or("n_routed_experts", defaults.experts.experts, kMostExperts);
    model.experts_per_token =
        defaults.experts.per_token > 0
            ? fields.integer_or("num_experts_per_tok", defaults.experts.per_token, kMostExperts)
            : fields.integer("num_experts_per_tok", kMostExperts);
    model.expert_intermediate_size =
        fields.integer_or("moe_intermediate_size", defaults.experts.width, 10 * kMostExperts);
    model.shared_expert_intermediate_size =
        model.expert_intermediate_size *
        fields.integer_or("n_shared_experts", defaults.shared_experts, 10'000);
    model.gates_shared_expert = false;
    model.norms_expert_weights = fields.flag_or("norm_topk_prob", defaults.norms);
    read_groups(fields, model, defaults);
    read_dense_layers(fields, model, defaults.dense_layers);
    if (fields.number_or("moe_layer_freq", 1) != 1) model.obstacles.push_back("moe_layer_freq");
    // The classes have neither heads that predict later tokens (MTP) nor a loss that balances experts.
    for (const char* idle : {"num_nextn_predict_layers", "num_mtp_layers", "output_router_logits",
                             "aux_loss_alpha", "seq_aux", "router_aux_loss_coef", "ep_size"})
        fields.has(idle);
}

namespace {

/// Returns the factor by which YaRN multiplies attention's scale.
double yarn_scale(const RopeConfig& rope) {
    const double weight = rope.mscale_all_dim.value_or(0);
    if (rope.type == "default" || weight == 0 || rope.factor <= 1) return 1;
    const double factor = 0.1 * weight * std::log(rope.factor) + 1;
    return factor * factor;
}

/// Adds an obstacle if the rotated part of a key would not be the part that all heads share.
void check_rotary_share(const ConfigFields& fields, ModelConfig& model, int64_t of) {
    const double otherwise = double(model.latent.rotary_width) / double(of);
    double share = fields.number_or("partial_rotary_factor", otherwise);
    for (const char* object : {"rope_scaling", "rope_parameters"})
        if (const std::optional<ConfigFields> rope = fields.object(object))
            share = rope->number_or("partial_rotary_factor", share);
    if (static_cast<int64_t>(double(of) * share) != model.latent.rotary_width)
        model.obstacles.push_back("partial_rotary_factor");
}

}  // namespace

void read_latents(const ConfigFields& fields, ModelConfig& model, const LatentSizes& defaults,
                  bool share_of_key) {
    LatentSizes& sizes = model.latent;
    sizes.query_rank = fields.is_null("q_lora_rank")
                           ? 0
                           : fields.integer_or("q_lora_rank", defaults.query_rank, kMostExperts);
    sizes.rank = fields.integer_or("kv_lora_rank", defaults.rank, kMostExperts);
    sizes.rotary_width = fields.integer_or("qk_rope_head_dim", defaults.rotary_width, 100'000);
    sizes.plain_width = fields.integer_or("qk_nope_head_dim", defaults.plain_width, 100'000);
    sizes.value_width = fields.integer_or("v_head_dim", defaults.value_width, 100'000);
    if (sizes.rotary_width % 2 != 0)
        fields.refuse("'qk_rope_head_dim' is odd: a rotary embedding turns pairs");
    check_rotary_share(fields, model, share_of_key ? sizes.key_width() : sizes.rotary_width);
    fields.has("qk_head_dim");  // this field is the sum of two other fields
    if (model.num_kv_heads != model.num_heads) model.obstacles.push_back("num_key_value_heads");
    model.head_dim = std::max(sizes.key_width(), sizes.value_width);
    model.head_dim += model.head_dim % 2;
    RopeConfig& rope = model.ropes.front();
    rope.rotary_dim = sizes.rotary_width;
    rope.interleaved = fields.flag_or("rope_interleave", true);
    model.qkv_bias = model.output_bias = fields.flag_or("attention_bias", false);
    model.attention_scale = yarn_scale(rope) / std::sqrt(double(sizes.key_width()));
}

void expect_text(const ConfigFields& fields, ModelConfig& model, const char* key, const char* only) {
    if (fields.text_or(key, only) != only) model.obstacles.push_back(key);
}

}  // namespace ringmaster
