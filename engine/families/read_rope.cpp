// Reads rotary embeddings like RotaryEmbeddingConfigMixin and ROPE_INIT_FUNCTIONS of transformers 5.23.
#include "engine/families/read_rope.h"

#include <cmath>

namespace ringmaster {

namespace {

constexpr int64_t kLongest = int64_t{1} << 40;

void read_yarn(const ConfigFields& parameters, RopeConfig& rope) {
    rope.attention_factor = parameters.optional_number("attention_factor");
    rope.mscale = parameters.optional_number("mscale");
    rope.mscale_all_dim = parameters.optional_number("mscale_all_dim");
    rope.truncate = parameters.flag_or("truncate", true);
    parameters.has("max_position_embeddings");
    const double beta_fast = parameters.number_or("beta_fast", 0);
    const double beta_slow = parameters.number_or("beta_slow", 0);
    if (beta_fast != 0) rope.beta_fast = beta_fast;  // transformers treats 0 as absent
    if (beta_slow != 0) rope.beta_slow = beta_slow;
}

std::vector<double> read_factors(const ConfigFields& parameters, const char* key, int64_t pairs) {
    if (!parameters.has(key)) parameters.refuse("'" + std::string(key) + "' is missing");
    const nlohmann::json& list = parameters.values()[key];
    std::vector<double> factors;
    for (const nlohmann::json& value : list) {
        if (!list.is_array() || !value.is_number() || !(value.get<double>() > 0))
            parameters.refuse("'" + std::string(key) + "' holds something else than numbers above 0");
        factors.push_back(value.get<double>());
    }
    if (static_cast<int64_t>(factors.size()) != pairs)
        parameters.refuse("'" + std::string(key) + "' does not have " + std::to_string(pairs) + " numbers");
    return factors;
}

void read_llama3(const ConfigFields& parameters, RopeConfig& rope) {
    rope.low_freq_factor = parameters.number("low_freq_factor");
    rope.high_freq_factor = parameters.number("high_freq_factor");
    if (!(rope.low_freq_factor > 0) || !(rope.high_freq_factor > rope.low_freq_factor))
        parameters.refuse("'high_freq_factor' must be above 'low_freq_factor', and that above 0");
}

bool is_known(const std::string& type) {
    for (const char* known : {"linear", "dynamic", "yarn", "llama3", "longrope"})
        if (type == known) return true;
    return false;
}

/// Reads both lists of factors and the attention factor. `factor` defaults to the ratio of the maximum length
/// to the original length.
void read_longrope(const ConfigFields& parameters, const ModelConfig& model, RopeConfig& rope) {
    const int64_t pairs = (rope.rotary_dim > 0 ? rope.rotary_dim : model.head_dim) / 2;
    rope.short_factor = read_factors(parameters, "short_factor", pairs);
    rope.long_factor = read_factors(parameters, "long_factor", pairs);
    rope.attention_factor = parameters.optional_number("attention_factor");
    for (const char* unused : {"long_mscale", "short_mscale"}) parameters.has(unused);
    rope.factor = parameters.number_or(
        "factor", double(model.max_position_embeddings) / double(rope.original_max_position_embeddings));
}

void read_scaling(const ConfigFields& fields, const ConfigFields& parameters, const ModelConfig& model,
                  RopeConfig& rope) {
    const int64_t longest = model.max_position_embeddings;
    const int64_t original = parameters.integer_or("original_max_position_embeddings", longest, kLongest);
    const bool extends = rope.type == "llama3" || rope.type == "yarn" || rope.type == "longrope";
    if (extends)
        rope.original_max_position_embeddings =
            fields.integer_or("original_max_position_embeddings", original, kLongest);
    if (rope.type == "longrope") {
        read_longrope(parameters, model, rope);
    } else if (rope.type == "yarn" && parameters.is_null("factor")) {
        rope.factor = double(longest) / double(rope.original_max_position_embeddings);
    } else {
        rope.factor = parameters.number("factor");
    }
    if (!(rope.factor > 0)) parameters.refuse("'factor' must be above 0");
    if (rope.type == "llama3") read_llama3(parameters, rope);
    if (rope.type == "yarn") read_yarn(parameters, rope);
}

void read_rotary_share(const ConfigFields& fields, const ConfigFields& parameters, const Family& family,
                       ModelConfig& model, RopeConfig& rope) {
    double share = fields.number_or(family.rotary_share_field, family.rotary_share);
    share = parameters.number_or("partial_rotary_factor", share);
    if (!(share > 0) || share > 1) fields.refuse("'partial_rotary_factor' must be above 0 and at most 1");
    if (share == 1) return;
    rope.rotary_dim = static_cast<int64_t>(double(model.head_dim) * share);
    if (rope.rotary_dim < 2 || rope.rotary_dim % 2 != 0)
        fields.refuse("'partial_rotary_factor' must leave an even number of elements a head");
}

}  // namespace

RopeConfig read_rope(const ConfigFields& fields, const Family& family, ModelConfig& model) {
    RopeConfig rope;
    rope.theta = fields.positive_or(family.rope_theta_field, family.rope_theta);
    const nlohmann::json otherwise = nlohmann::json::parse(family.default_rope);
    const std::optional<ConfigFields> five = fields.object("rope_parameters");
    std::optional<ConfigFields> parameters = fields.object("rope_scaling");
    if (!parameters) parameters = five;
    if (!parameters) parameters.emplace(otherwise, fields.where());
    if (std::optional<ConfigFields> full = parameters->object("full_attention")) {
        parameters->has("sliding_attention");
        parameters = full;
    }
    rope.theta = parameters->positive_or("rope_theta", rope.theta);
    rope.type = parameters->text_or("rope_type", "");
    if (rope.type.empty()) rope.type = parameters->text_or("type", "default");
    parameters->has("type");
    // A text token has the same position in all three dimensions of an image, so these fields change nothing.
    for (const char* of_images : {"mrope_section", "mrope_interleaved"}) parameters->has(of_images);
    if (rope.type == "su") rope.type = "longrope";
    if (rope.type != "proportional") read_rotary_share(fields, *parameters, family, model, rope);
    if (rope.type == "proportional") {
        rope.share = parameters->positive_or("partial_rotary_factor", 1);
        rope.factor = parameters->positive_or("factor", 1);
        if (rope.share > 1) parameters->refuse("'partial_rotary_factor' is above 1");
    } else if (rope.type == "default") {
        for (const char* idle : {"factor", "original_max_position_embeddings"}) parameters->has(idle);
    } else if (is_known(rope.type)) {
        read_scaling(fields, *parameters, model, rope);
    } else {
        model.obstacles.push_back("rope_type '" + rope.type + "'");
    }
    if (family.has_query_scale) rope.query_scale_beta = parameters->number_or("llama_4_scaling_beta", 0);
    for (const std::string& name : parameters->unread()) model.obstacles.push_back("rope_parameters." + name);
    return rope;
}

void read_rotary_dim(const ConfigFields& fields, ModelConfig& model, int64_t otherwise) {
    const int64_t turned = fields.integer_or("rotary_dim", otherwise, model.head_dim);
    if (turned % 2 != 0) fields.refuse("'rotary_dim' is odd: a rotary embedding turns pairs");
    model.ropes.front().rotary_dim = turned == model.head_dim ? 0 : turned;
}

RopeConfig read_window_rope(const ConfigFields& fields, double theta) {
    RopeConfig rope;
    rope.theta = theta;
    const std::optional<ConfigFields> all = fields.object("rope_parameters");
    const std::optional<ConfigFields> own = all ? all->object("sliding_attention") : std::nullopt;
    if (!own) return rope;
    rope.theta = own->positive_or("rope_theta", theta);
    rope.type = own->text_or("rope_type", "default");
    if (rope.type != "default") own->refuse("rope_type '" + rope.type + "' is not supported here");
    return rope;
}

}  // namespace ringmaster
