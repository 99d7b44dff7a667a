#include "engine/families/model_config.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "engine/error.h"
#include "engine/families/checked_sizes.h"

namespace ringmaster {

namespace {

using nlohmann::json;

/// What a model type means where config.json is silent. Source: configuration_<type>.py of transformers 5.23.
struct Family {
    std::string_view type;
    bool trainable;
    int64_t kv_heads;  // where the key is absent; 0: as many as query heads
    int64_t head_dim;  // 0: hidden_size ÷ num_attention_heads
    int64_t max_position;
    double norm_eps;
    double rope_theta;
    bool tied;
    int64_t sliding_window;  // where the key is absent; 0: none
};

constexpr std::array<Family, 14> kFamilies = {{
    {"llama", true, 0, 0, 2048, 1e-6, 1e4, false, 0},
    {"mistral", true, 8, 0, 131072, 1e-6, 1e4, false, 4096},
    {"qwen2", true, 32, 0, 32768, 1e-6, 1e4, false, 4096},
    {"qwen3", true, 32, 128, 32768, 1e-6, 1e4, false, 4096},
    {"phi", false, 0, 0, 2048, 1e-5, 1e4, false, 0},
    {"phi3", false, 0, 0, 4096, 1e-5, 1e4, false, 0},
    {"gemma", false, 16, 256, 8192, 1e-6, 1e4, true, 0},
    {"gemma2", false, 4, 256, 8192, 1e-6, 1e4, true, 4096},
    {"gemma3_text", false, 4, 256, 131072, 1e-6, 1e6, true, 4096},
    {"mixtral", false, 8, 0, 131072, 1e-5, 1e6, false, 0},
    {"qwen2_moe", false, 16, 0, 32768, 1e-6, 1e4, false, 4096},
    {"qwen3_moe", false, 4, 0, 32768, 1e-6, 1e4, false, 4096},
    {"starcoder2", false, 2, 0, 4096, 1e-5, 1e4, true, 0},
    {"granite", false, 0, 0, 2048, 1e-6, 1e4, false, 0},
}};

/// One config.json, read field by field: every complaint names the file and the field.
class Reader {
  public:
    Reader(const json& values, std::string where) : values_(&values), where_(std::move(where)) {
        if (!values.is_object())
            throw Error(Failure::Refused, Code("MODEL-CONFIG"), "is not a JSON object", where_);
    }

    [[noreturn]] void refuse(const std::string& what, const std::string& hint = {}) const {
        throw Error(Failure::Refused, Code("MODEL-CONFIG"), what, where_, hint);
    }

    bool has(const char* key) const { return values_->contains(key); }
    bool is_null(const char* key) const { return has(key) && at(key).is_null(); }

    int64_t integer(const char* key, int64_t max) const {
        if (!has(key)) refuse("'" + std::string(key) + "' is missing");
        const json& value = at(key);
        const bool fits =
            value.is_number_integer() && value.get<double>() >= 1 && value.get<double>() <= double(max);
        if (!fits) {
            refuse("'" + std::string(key) + "' is " + value.dump() + ", not a whole number from 1 to " +
                   std::to_string(max));
        }
        return value.get<int64_t>();
    }
    /// An absent or null key gives `otherwise`.
    int64_t integer_or(const char* key, int64_t otherwise, int64_t max) const {
        return !has(key) || is_null(key) ? otherwise : integer(key, max);
    }

    double number_or(const char* key, double otherwise) const {
        if (!has(key) || is_null(key)) return otherwise;
        if (!at(key).is_number()) {
            refuse("'" + std::string(key) + "' is " + at(key).dump() + ", not a number");
        }
        return at(key).get<double>();
    }
    double number(const char* key) const {
        if (!has(key) || is_null(key)) refuse("'" + std::string(key) + "' is missing");
        return number_or(key, 0);
    }
    std::optional<double> optional_number(const char* key) const {
        if (!has(key) || is_null(key)) return std::nullopt;
        return number(key);
    }
    double positive_or(const char* key, double otherwise) const {
        const double value = number_or(key, otherwise);
        if (!(value > 0)) refuse("'" + std::string(key) + "' is " + at(key).dump() + ", not above 0");
        return value;
    }

    bool flag_or(const char* key, bool otherwise) const {
        if (!has(key) || is_null(key)) return otherwise;
        if (!at(key).is_boolean()) {
            refuse("'" + std::string(key) + "' is " + at(key).dump() + ", not true or false");
        }
        return at(key).get<bool>();
    }

    std::string text_or(const char* key, const std::string& otherwise) const {
        if (!has(key) || is_null(key)) return otherwise;
        if (!at(key).is_string()) refuse("'" + std::string(key) + "' is " + at(key).dump() + ", not text");
        return at(key).get<std::string>();
    }

    /// An object that holds something; an empty one, null and an absent key give nullopt.
    std::optional<Reader> object(const char* key) const {
        if (!has(key) || is_null(key)) return std::nullopt;
        if (!at(key).is_object()) refuse("'" + std::string(key) + "' is not an object");
        if (at(key).empty()) return std::nullopt;
        return Reader(at(key), where_ + ": " + key);
    }

    const json& values() const { return *values_; }
    const std::string& where() const { return where_; }

  private:
    const json& at(const char* key) const { return values_->at(key); }

    const json* values_;
    std::string where_;
};

std::string joined_types(bool only_trainable) {
    std::string names;
    for (const Family& family : kFamilies) {
        if (only_trainable && !family.trainable) continue;
        names += (names.empty() ? "" : ", ") + std::string(family.type);
    }
    return names;
}

const Family& family_of(const std::string& type, const Reader& reader) {
    for (const Family& family : kFamilies) {
        if (family.type == type) return family;
    }
    reader.refuse("model type '" + type + "' is unknown here",
                  "trained: " + joined_types(true) + "; planned: " + joined_types(false));
}

/// qwen: only with use_sliding_window, in layers from max_window_layers on or those that layer_types names.
bool some_layer_slides(const Reader& reader, const std::string& type, int64_t layers) {
    const bool qwen = type.starts_with("qwen");
    if (qwen && !reader.flag_or("use_sliding_window", false)) return false;
    if (!qwen && !type.starts_with("gemma")) return true;
    if (reader.has("layer_types") && reader.values()["layer_types"].is_array()) {
        const json& types = reader.values()["layer_types"];
        return std::any_of(types.begin(), types.end(),
                           [](const json& t) { return t == "sliding_attention"; });
    }
    return !qwen || reader.number_or("max_window_layers", 28) < double(layers);
}

std::optional<int64_t> read_sliding_window(const Reader& reader, const Family& family, int64_t layers) {
    if (!some_layer_slides(reader, std::string(family.type), layers) || reader.is_null("sliding_window")) {
        return std::nullopt;
    }
    if (!reader.has("sliding_window")) {
        return family.sliding_window > 0 ? std::optional(family.sliding_window) : std::nullopt;
    }
    return reader.integer("sliding_window", int64_t{1} << 40);
}

void read_yarn(const Reader& parameters, RopeConfig& rope) {
    rope.attention_factor = parameters.optional_number("attention_factor");
    rope.mscale = parameters.optional_number("mscale");
    rope.mscale_all_dim = parameters.optional_number("mscale_all_dim");
    rope.truncate = parameters.flag_or("truncate", true);
    const double beta_fast = parameters.number_or("beta_fast", 0);
    const double beta_slow = parameters.number_or("beta_slow", 0);
    if (beta_fast != 0) rope.beta_fast = beta_fast;  // transformers reads 0 as left out
    if (beta_slow != 0) rope.beta_slow = beta_slow;
}

/// Source: RotaryEmbeddingConfigMixin of transformers 5.23. `rope_scaling` (transformers 4) goes before
/// `rope_parameters`; each layer type may have its own, of which the full attention's is taken.
RopeConfig read_rope(const Reader& reader, const Family& family, int64_t max_position) {
    RopeConfig rope;
    rope.theta = reader.positive_or("rope_theta", family.rope_theta);
    std::optional<Reader> parameters = reader.object("rope_scaling");
    if (!parameters) parameters = reader.object("rope_parameters");
    if (!parameters) return rope;
    if (std::optional<Reader> full = parameters->object("full_attention")) parameters = full;

    rope.theta = parameters->positive_or("rope_theta", rope.theta);
    rope.type = parameters->text_or("rope_type", parameters->text_or("type", "default"));
    if (!family.trainable || rope.type == "default") return rope;
    if (parameters->number_or("partial_rotary_factor", 1) != 1) {
        parameters->refuse("a 'partial_rotary_factor' other than 1 is not supported");
    }
    const auto original =
        parameters->integer_or("original_max_position_embeddings", max_position, int64_t{1} << 40);
    if (rope.type == "llama3" || rope.type == "yarn") {
        rope.original_max_position_embeddings =
            reader.integer_or("original_max_position_embeddings", original, int64_t{1} << 40);
    }
    if (rope.type == "yarn" && parameters->is_null("factor")) {
        rope.factor = double(max_position) / double(rope.original_max_position_embeddings);
    } else if (rope.type == "linear" || rope.type == "dynamic" || rope.type == "llama3" ||
               rope.type == "yarn") {
        rope.factor = parameters->number("factor");
    } else {
        parameters->refuse("rope_type '" + rope.type + "' is not supported",
                           "default, linear, dynamic, yarn and llama3 are");
    }
    if (!(rope.factor > 0)) parameters->refuse("'factor' must be above 0");
    if (rope.type == "llama3") {
        rope.low_freq_factor = parameters->number("low_freq_factor");
        rope.high_freq_factor = parameters->number("high_freq_factor");
        if (!(rope.low_freq_factor > 0) || !(rope.high_freq_factor > rope.low_freq_factor)) {
            parameters->refuse("'high_freq_factor' must be above 'low_freq_factor', and that above 0");
        }
    }
    if (rope.type == "yarn") read_yarn(*parameters, rope);
    return rope;
}

void read_experts(const Reader& reader, ModelConfig& model) {
    constexpr int64_t kMax = 1'000'000;
    if (model.model_type == "mixtral") {
        model.num_experts = reader.integer_or("num_local_experts", 8, kMax);
        model.experts_per_token = reader.integer_or("num_experts_per_tok", 2, kMax);
        model.expert_intermediate_size = model.intermediate_size;
    } else if (model.model_type == "qwen2_moe" || model.model_type == "qwen3_moe") {
        const bool second = model.model_type == "qwen2_moe";
        if (reader.number_or("decoder_sparse_step", 1) != 1 ||
            (reader.has("mlp_only_layers") && !reader.is_null("mlp_only_layers") &&
             !reader.values()["mlp_only_layers"].empty())) {
            reader.refuse("experts in only some of the layers are not supported");
        }
        model.num_experts = reader.integer_or("num_experts", second ? 60 : 128, kMax);
        model.experts_per_token = reader.integer_or("num_experts_per_tok", second ? 4 : 8, kMax);
        model.expert_intermediate_size =
            reader.integer_or("moe_intermediate_size", second ? 1408 : 768, kMax * 10);
        if (second) {
            model.shared_expert_intermediate_size =
                reader.integer_or("shared_expert_intermediate_size", 5632, kMax * 10);
        }
    }
}

void read_sizes(const Reader& reader, const Family& family, ModelConfig& model) {
    model.hidden_size = reader.integer("hidden_size", 1'000'000);
    model.num_layers = reader.integer("num_hidden_layers", 10'000);
    model.num_heads = reader.integer("num_attention_heads", 100'000);
    model.intermediate_size = reader.integer("intermediate_size", 10'000'000);
    model.vocab_size = reader.integer("vocab_size", 100'000'000);
    const int64_t kv_heads = reader.is_null("num_key_value_heads") ? 0 : family.kv_heads;
    model.num_kv_heads =
        reader.integer_or("num_key_value_heads", kv_heads > 0 ? kv_heads : model.num_heads, 100'000);
    if (model.num_heads % model.num_kv_heads != 0) {
        reader.refuse("num_attention_heads " + std::to_string(model.num_heads) +
                      " is no multiple of num_key_value_heads " + std::to_string(model.num_kv_heads));
    }
    const int64_t head_dim = family.head_dim > 0 ? family.head_dim : model.hidden_size / model.num_heads;
    model.head_dim = reader.integer_or("head_dim", head_dim, 100'000);
    const bool derived = family.head_dim == 0 && (!reader.has("head_dim") || reader.is_null("head_dim"));
    if (derived && model.hidden_size % model.num_heads != 0) {
        reader.refuse("hidden_size " + std::to_string(model.hidden_size) +
                      " is no multiple of num_attention_heads " + std::to_string(model.num_heads));
    }
    if (model.head_dim % 2 != 0) {
        reader.refuse("head_dim " + std::to_string(model.head_dim) +
                      " is odd: a rotary embedding turns pairs");
    }
    model.max_position_embeddings =
        reader.integer_or("max_position_embeddings", family.max_position, int64_t{1} << 40);
}

void read_flags(const Reader& reader, const Family& family, ModelConfig& model) {
    const std::string& type = model.model_type;
    model.tie_word_embeddings = reader.flag_or("tie_word_embeddings", family.tied);
    const bool has_attention_bias = type == "llama" || type == "qwen3" || type == "qwen3_moe" ||
                                    type == "granite" || type.starts_with("gemma");
    const bool attention_bias = has_attention_bias && reader.flag_or("attention_bias", false);
    const bool everywhere = type == "phi" || (type == "starcoder2" && reader.flag_or("use_bias", true));
    model.qkv_bias = attention_bias || everywhere || type == "qwen2" ||
                     (type == "qwen2_moe" && reader.flag_or("qkv_bias", true));
    model.output_bias = attention_bias || everywhere;
    model.mlp_bias =
        everywhere || ((type == "llama" || type == "granite") && reader.flag_or("mlp_bias", false));
    const bool normed = type == "qwen3" || type == "qwen3_moe" || type == "gemma3_text";
    model.qk_norm = normed ? QkNorm::PerHead : QkNorm::None;
    model.layer_norms = model.norm_biases = type == "phi" || type == "starcoder2";
    model.gate.gated = !model.layer_norms;
    model.parallel_blocks = model.head_bias = type == "phi";
    model.norms_outputs = type == "gemma2" || type == "gemma3_text";
}

/// What a trainable family may ask for and the engine does not compute.
void refuse_other_arithmetic(const Reader& reader) {
    const std::string act = reader.text_or("hidden_act", "silu");
    if (act != "silu" && act != "swish")
        reader.refuse("hidden_act '" + act + "' is not supported", "silu is");
    if (reader.number_or("attention_dropout", 0) != 0) {
        reader.refuse("attention_dropout other than 0 is not supported", "set it to 0.0 in config.json");
    }
    if (reader.number_or("partial_rotary_factor", 1) != 1) {
        reader.refuse("a 'partial_rotary_factor' other than 1 is not supported");
    }
}

/// Weights that bitsandbytes has quantised; other formats are not read.
Quantization read_quantization(const Reader& reader) {
    const std::optional<Reader> said = reader.object("quantization_config");
    if (!said) return {};
    if (said->text_or("quant_method", "") != "bitsandbytes")
        reader.refuse("the weights are quantised in another way than bitsandbytes' (quantization_config)",
                      "use the model's unquantised folder");
    const auto skipped = said->values().find("llm_int8_skip_modules");
    if (skipped != said->values().end() && !skipped->is_null() && !skipped->empty() &&
        *skipped != json{"lm_head"})
        said->refuse("only some of the layers' matrices are quantised (llm_int8_skip_modules)",
                     "use the model's unquantised folder");
    Quantization found;
    found.stored = true;
    if (said->flag_or("load_in_8bit", false)) {
        found.format = WeightFormat::Int8;
    } else if (said->flag_or("load_in_4bit", false)) {
        found.format =
            said->text_or("bnb_4bit_quant_type", "fp4") == "nf4" ? WeightFormat::Nf4 : WeightFormat::Fp4;
        found.nested = said->flag_or("bnb_4bit_use_double_quant", false);
    } else {
        said->refuse("neither load_in_4bit nor load_in_8bit is true");
    }
    return found;
}

ModelConfig read_text_model(const Reader& reader) {
    ModelConfig model;
    model.model_type = reader.text_or("model_type", "");
    if (model.model_type.empty()) reader.refuse("'model_type' is missing");
    if (model.model_type == "gemma3") {
        const std::optional<Reader> text = reader.object("text_config");
        if (!text) reader.refuse("'text_config' is missing");
        return read_text_model(*text);
    }
    const Family& family = family_of(model.model_type, reader);
    if (family.trainable) refuse_other_arithmetic(reader);
    model.quantization = read_quantization(reader);
    read_sizes(reader, family, model);
    model.rms_norm_eps = reader.positive_or(model.model_type == "phi"          ? "layer_norm_eps"
                                            : model.model_type == "starcoder2" ? "norm_epsilon"
                                                                               : "rms_norm_eps",
                                            family.norm_eps);
    model.initializer_range = reader.number_or("initializer_range", 0.02);
    if (!(model.initializer_range >= 0)) reader.refuse("'initializer_range' must not be below 0");
    read_flags(reader, family, model);
    read_experts(reader, model);
    refuse_absurd_size(model, reader.where());
    model.sliding_window = read_sliding_window(reader, family, model.num_layers);
    model.ropes = {read_rope(reader, family, model.max_position_embeddings)};
    if (!family.trainable) model.obstacles.push_back("model_type");
    return model;
}

}  // namespace

void refuse_absurd_size(const ModelConfig& model, const std::string& where) {
    const double mlp = 3.0 * double(model.hidden_size) *
                       (double(model.intermediate_size) +
                        double(model.num_experts) * double(model.expert_intermediate_size) +
                        double(model.shared_expert_intermediate_size));
    const double attention =
        4.0 * double(model.hidden_size) * double(model.num_heads) * double(model.head_dim);
    const double parameters = 2.0 * double(model.vocab_size) * double(model.hidden_size) +
                              double(model.num_layers) * (mlp + attention);
    if (parameters > 1e15)
        throw Error(Failure::Refused, Code("MODEL-CONFIG"),
                    "its sizes multiply to more than 10^15 parameters", where);
}

ModelConfig model_config_from_json(const json& values, const std::string& where) {
    return read_text_model(Reader(values, where));
}

ModelConfig read_model_config(const std::string& model_dir) {
    const std::filesystem::path path = std::filesystem::path(model_dir) / "config.json";
    std::ifstream file(path);
    if (!file || std::filesystem::is_directory(path)) {
        throw Error(Failure::Usage, Code("MODEL-MISSING"), "holds no readable config.json", model_dir,
                    "base_model is a Hugging Face model folder, or a hub id");
    }
    const json values = json::parse(file, nullptr, false);
    if (values.is_discarded())
        throw Error(Failure::Refused, Code("MODEL-CONFIG"), "is not valid JSON", path.string());
    return model_config_from_json(values, path.string());
}

}  // namespace ringmaster
