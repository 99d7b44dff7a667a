// Reads the sizes of state spaces (Mamba-1 and Mamba-2).
#include <cmath>

#include "engine/families/families.h"

namespace ringmaster {

namespace {

constexpr int64_t kMostOfStates = 1'000'000;

/// Reads the limits of the step. A file has {"__float__": "Infinity"} for infinity.
void read_limits(const ConfigFields& fields, StateSpace& space) {
    if (!fields.has("time_step_limit") || fields.is_null("time_step_limit")) return;
    const nlohmann::json& limits = fields.values()["time_step_limit"];
    const bool is_pair = limits.is_array() && limits.size() == 2 && limits[0].is_number() && limits[0] >= 0;
    if (!is_pair || (limits[1].is_number() && limits[1] <= 0))
        fields.refuse("'time_step_limit' is " + limits.dump() + ", not two numbers");
    space.least_step = limits[0].get<double>();
    if (limits[1].is_number() && std::isfinite(limits[1].get<double>()))
        space.most_step = limits[1].get<double>();
}

}  // namespace

std::vector<double> read_factors(const ConfigFields& fields, const char* key, size_t count) {
    if (!fields.has(key) || fields.is_null(key)) return std::vector<double>(count, 1);
    const nlohmann::json& given = fields.values()[key];
    bool fits = given.is_array() && given.size() == count;
    for (size_t i = 0; fits && i < count; ++i) fits = given[i].is_number();
    if (!fits)
        fields.refuse("'" + std::string(key) + "' is no list of " + std::to_string(count) + " numbers");
    return given.get<std::vector<double>>();
}

namespace {

/// Returns the width of all heads.
int64_t read_width(const ConfigFields& fields, const ModelConfig& model, const StateSpaceDefaults& defaults,
                   int64_t heads) {
    if (defaults.of_head > 0)
        return heads * fields.integer_or("mamba_d_head", defaults.of_head, kMostOfStates);
    const int64_t expanded = fields.integer_or("mamba_expand", 2, 1000) * model.hidden_size;
    if (defaults.inner == 0) return expanded;
    return fields.integer_or("mamba_d_ssm", fields.is_null("mamba_d_ssm") ? expanded : defaults.inner,
                             10 * kMostOfStates);
}

/// Reads the fields that both kinds of state spaces share, except sizes.
void read_module(const ConfigFields& fields, ModelConfig& model, const char* activation_field) {
    model.delta.state_space.convolution_bias = fields.flag_or("mamba_conv_bias", true);
    if (fields.flag_or("mamba_proj_bias", false)) model.obstacles.push_back("mamba_proj_bias");
    const std::string activation = fields.text_or(activation_field, "silu");
    if (activation != "silu" && activation != "swish") model.obstacles.push_back(activation_field);
}

}  // namespace

void read_selective_space(const ConfigFields& fields, ModelConfig& model) {
    const int64_t width = fields.integer_or("mamba_expand", 2, 1000) * model.hidden_size;
    const bool is_auto = fields.has("mamba_dt_rank") && fields.values()["mamba_dt_rank"] == "auto";
    const int64_t rank = (model.hidden_size + 15) / 16;
    model.delta = {.key_heads = 1,
                   .value_heads = width,
                   .key_width = fields.integer_or("mamba_d_state", 16, 4096),
                   .value_width = 1,
                   .taps = fields.integer_or("mamba_d_conv", 4, 64),
                   .state_space = {.on = true}};
    model.delta.state_space.step_rank =
        is_auto ? rank : fields.integer_or("mamba_dt_rank", rank, kMostOfStates);
    read_module(fields, model, "hidden_act");
}

void read_state_space(const ConfigFields& fields, ModelConfig& model, const StateSpaceDefaults& defaults) {
    const int64_t heads = fields.integer_or("mamba_n_heads", 128, kMostOfStates);
    const int64_t groups = fields.integer_or("mamba_n_groups", defaults.groups, kMostOfStates);
    const int64_t inner = read_width(fields, model, defaults, heads);
    const bool is_auto = fields.has("mamba_d_head") && fields.values()["mamba_d_head"] == "auto";
    const int64_t width =
        is_auto ? inner / heads : fields.integer_or("mamba_d_head", inner / heads, kMostOfStates);
    if (heads * width != inner)
        fields.refuse("'mamba_n_heads' · 'mamba_d_head' is not the width of the layer");
    if (heads % groups != 0) fields.refuse("'mamba_n_heads' is no multiple of 'mamba_n_groups'");
    model.delta = {.key_heads = groups,
                   .value_heads = heads,
                   .key_width = fields.integer_or("mamba_d_state", defaults.state, kMostOfStates),
                   .value_width = width,
                   .taps = fields.integer_or("mamba_d_conv", 4, 64),
                   .state_space = {.on = true}};
    read_module(fields, model, defaults.activation_field);
    if (defaults.of_head == 0) read_limits(fields, model.delta.state_space);
    fields.has("mamba_chunk_size");
}

}  // namespace ringmaster
