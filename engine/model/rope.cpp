#include "engine/model/rope.h"

#include <ATen/ATen.h>

#include <cmath>
#include <numbers>

#include "engine/error.h"

namespace ringmaster {

namespace {

at::Tensor half_range(int64_t dim) {
    return at::arange(0, dim, 2, at::kFloat);
}

at::Tensor plain_frequencies(double theta, int64_t dim) {
    return at::pow(theta, half_range(dim) / static_cast<double>(dim)).reciprocal();
}

/// Returns the default frequencies, with 0 for the last pairs. Source: _compute_proportional_rope_parameters
/// of transformers.
at::Tensor proportional_frequencies(const RopeConfig& rope, int64_t dim) {
    const auto turning = static_cast<int64_t>(std::floor(rope.share * static_cast<double>(dim) / 2));
    at::Tensor frequency = plain_frequencies(rope.theta, dim);
    frequency.narrow(0, turning, dim / 2 - turning).zero_();
    return frequency / rope.factor;
}

at::Tensor dynamic_frequencies(const ModelConfig& model, const RopeConfig& rope, int64_t width,
                               int64_t sequence_length) {
    const double dim = static_cast<double>(width);
    const double longest = static_cast<double>(model.max_position_embeddings);
    const double length = std::max(static_cast<double>(sequence_length), longest);
    double theta = rope.theta * std::pow(rope.factor * length / longest - (rope.factor - 1), dim / (dim - 2));
    return plain_frequencies(theta, width);
}

at::Tensor llama3_frequencies(const RopeConfig& rope, int64_t dim) {
    at::Tensor frequency = plain_frequencies(rope.theta, dim);
    const double context = static_cast<double>(rope.original_max_position_embeddings);
    at::Tensor wavelength = frequency.reciprocal() * (2 * std::numbers::pi);
    at::Tensor scaled =
        at::where(wavelength > context / rope.low_freq_factor, frequency / rope.factor, frequency);
    at::Tensor smooth = (wavelength.reciprocal() * context - rope.low_freq_factor) /
                        (rope.high_freq_factor - rope.low_freq_factor);
    at::Tensor smoothed = (1 - smooth) * scaled / rope.factor + smooth * scaled;
    at::Tensor is_medium = (wavelength >= context / rope.high_freq_factor)
                               .logical_and(wavelength <= context / rope.low_freq_factor);
    return at::where(is_medium, smoothed, scaled);
}

/// Returns the index of the dimension that makes `rotations` turns over the original context.
double yarn_correction_dim(double rotations, const RopeConfig& rope, int64_t dim) {
    double context = static_cast<double>(rope.original_max_position_embeddings);
    return static_cast<double>(dim) * std::log(context / (rotations * 2 * std::numbers::pi)) /
           (2 * std::log(rope.theta));
}

at::Tensor yarn_frequencies(const RopeConfig& rope, int64_t dim) {
    double low = yarn_correction_dim(rope.beta_fast, rope, dim);
    double high = yarn_correction_dim(rope.beta_slow, rope, dim);
    if (rope.truncate) {
        low = std::floor(low);
        high = std::ceil(high);
    }
    low = std::max(low, 0.0);
    high = std::min(high, static_cast<double>(dim - 1));
    if (low == high) high += 0.001;
    at::Tensor powers = at::pow(rope.theta, half_range(dim) / static_cast<double>(dim));
    at::Tensor ramp = ((at::arange(dim / 2, at::kFloat) - low) / (high - low)).clamp(0, 1);
    return (powers * rope.factor).reciprocal() * ramp + powers.reciprocal() * (1 - ramp);
}

double yarn_attention_factor(const RopeConfig& rope) {
    if (rope.attention_factor) return *rope.attention_factor;
    auto mscale = [&](double weight) {
        return rope.factor <= 1 ? 1.0 : 0.1 * weight * std::log(rope.factor) + 1.0;
    };
    if (rope.mscale.value_or(0) != 0 && rope.mscale_all_dim.value_or(0) != 0) {
        return mscale(*rope.mscale) / mscale(*rope.mscale_all_dim);
    }
    return mscale(1);
}

/// Returns frequencies whose factors depend on the length of the whole sequence, as in transformers.
at::Tensor longrope_frequencies(const RopeConfig& rope, int64_t dim, int64_t sequence_length) {
    const bool is_long = sequence_length > rope.original_max_position_embeddings;
    const std::vector<double>& factors = is_long ? rope.long_factor : rope.short_factor;
    const at::Tensor powers = at::pow(rope.theta, half_range(dim) / static_cast<double>(dim));
    return (powers * at::tensor(factors, at::kFloat)).reciprocal();
}

double longrope_attention_factor(const ModelConfig& model, const RopeConfig& rope) {
    if (rope.attention_factor) return *rope.attention_factor;
    const double original = static_cast<double>(rope.original_max_position_embeddings);
    const double factor = rope.factor > 1 ? rope.factor : double(model.max_position_embeddings) / original;
    return factor <= 1 ? 1 : std::sqrt(1 + std::log(factor) / std::log(original));
}

/// Returns 1 + beta · log(1 + ⌊position / original length⌋), as in Llama 4 and Ministral 3; undefined if beta
/// is 0.
at::Tensor query_scale(const RopeConfig& rope, const at::Tensor& positions_t) {
    if (rope.query_scale_beta == 0) return {};
    const at::Tensor lengths =
        at::floor(positions_t.to(at::kFloat) / static_cast<double>(rope.original_max_position_embeddings));
    return 1 + rope.query_scale_beta * at::log(1 + lengths);
}

}  // namespace

RopeTables make_rope_tables(const ModelConfig& model, const RopeConfig& rope, const at::Tensor& positions_t,
                            int64_t sequence_length) {
    const int64_t dim = rope.rotary_dim > 0 ? rope.rotary_dim : model.head_dim;
    at::Tensor frequency;
    double scaling = 1;
    if (rope.type == "default") {
        frequency = plain_frequencies(rope.theta, dim);
    } else if (rope.type == "linear") {
        frequency = plain_frequencies(rope.theta, dim) / rope.factor;
    } else if (rope.type == "dynamic") {
        frequency = dynamic_frequencies(model, rope, dim, sequence_length);
    } else if (rope.type == "proportional") {
        frequency = proportional_frequencies(rope, dim);
    } else if (rope.type == "llama3") {
        frequency = llama3_frequencies(rope, dim);
    } else if (rope.type == "yarn") {
        frequency = yarn_frequencies(rope, dim);
        scaling = yarn_attention_factor(rope);
    } else if (rope.type == "longrope") {
        frequency = longrope_frequencies(rope, dim, sequence_length);
        scaling = longrope_attention_factor(model, rope);
    } else {
        throw Error(Failure::Refused, Code("MODEL-CONFIG"),
                    "rope scaling '" + rope.type + "' is not supported", "config.json",
                    "supported: default, linear, dynamic, llama3, yarn, longrope, proportional");
    }
    at::Tensor angle_td =
        positions_t.to(at::kFloat).unsqueeze(1) * frequency.to(positions_t.device()).unsqueeze(0);
    return {(angle_td.cos() * scaling).contiguous(), (angle_td.sin() * scaling).contiguous(),
            rope.interleaved, query_scale(rope, positions_t)};
}

}  // namespace ringmaster
