// Reads config.json by the families' tables.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "engine/families/checked_sizes.h"
#include "engine/families/computed.h"
#include "engine/families/config_text.h"
#include "engine/families/families.h"
#include "engine/families/read_rope.h"

namespace ringmaster {

namespace {

using nlohmann::json;

/// Fields that change neither the model nor its training.
constexpr std::array kWithoutEffect = {"_attn_implementation_autoset",
                                       "_name_or_path",
                                       "architectures",
                                       "auto_map",
                                       "bad_words_ids",
                                       "begin_suppress_tokens",
                                       "bos_token_id",
                                       "cache_implementation",
                                       "chunk_size_feed_forward",
                                       "classifier_dropout",
                                       "dtype",
                                       "eos_token_id",
                                       "finetuning_task",
                                       "id2label",
                                       "is_decoder",
                                       "is_encoder_decoder",
                                       "label2id",
                                       "max_length",
                                       "min_length",
                                       "model_max_length",
                                       "model_type",
                                       "num_beams",
                                       "num_return_sequences",
                                       "prefix",
                                       "pretraining_tp",
                                       "problem_type",
                                       "return_dict",
                                       "rope_interleaved",
                                       "sep_token_id",
                                       "task_specific_params",
                                       "temperature",
                                       "tokenizer_class",
                                       "top_k",
                                       "top_p",
                                       "torch_dtype",
                                       "transformers.js_config",
                                       "transformers_version",
                                       "typical_p",
                                       "unsloth_fixed",
                                       "unsloth_version",
                                       "use_cache",
                                       "length_penalty",
                                       "repetition_penalty",
                                       "diversity_penalty",
                                       "num_beam_groups",
                                       "encoder_no_repeat_ngram_size",
                                       "decoder_start_token_id",
                                       "forced_bos_token_id",
                                       "forced_eos_token_id",
                                       "tf_legacy_loss",
                                       "cross_attention_hidden_size",
                                       "torchscript",
                                       "_commit_hash",
                                       "full_attn_mod",
                                       "interpolate_factor",
                                       "hidden_activation",
                                       "hidden_act",
                                       "layer_types",
                                       "sliding_window_pattern",
                                       "_sliding_window_pattern",
                                       "mm_tokens_per_image",
                                       "max_window_layers",
                                       "sliding_window",
                                       "layer_norm_eps",
                                       "rms_norm_eps",
                                       "norm_epsilon",
                                       "head_dim",
                                       "is_llama_config",
                                       "sliding_window_size",
                                       "num_labels",
                                       "output_attentions",
                                       "output_hidden_states",
                                       "use_return_dict",
                                       "return_dict_in_generate",
                                       "output_scores",
                                       "tie_encoder_decoder",
                                       "remove_invalid_values",
                                       "suppress_tokens",
                                       "exponential_decay_length_penalty",
                                       "early_stopping",
                                       "no_repeat_ngram_size",
                                       "do_sample",
                                       "add_cross_attention",
                                       "pruned_heads",
                                       "gradient_checkpointing",
                                       "attn_implementation",
                                       "unsloth_optimized",
                                       "model_name",
                                       "max_sequence_length",
                                       "seq_length",
                                       "mlp_only_layers",
                                       "decoder_sparse_step"};

/// Returns the activation for a name in transformers (activations.py, ACT2FN).
std::optional<Activation> activation_of(const std::string& name) {
    if (name == "silu" || name == "swish") return Activation::Silu;
    if (name == "gelu_pytorch_tanh" || name == "gelu_new" || name == "gelu_fast") return Activation::GeluTanh;
    if (name == "gelu") return Activation::Gelu;
    if (name == "relu2") return Activation::Relu2;
    return std::nullopt;
}

void read_activation(const ConfigFields& fields, const Family& family, ModelConfig& model) {
    const std::string name = fields.text_or(family.activation_field, family.activation);
    if (const std::optional<Activation> known = activation_of(name))
        model.gate.activation = *known;
    else
        model.obstacles.push_back(family.activation_field + std::string(" '") + name + "'");
}

void read_head_dim(const ConfigFields& fields, const Family& family, ModelConfig& model) {
    const bool given = fields.has("head_dim") && !fields.is_null("head_dim");
    if (!given && family.head_dim == 0 && model.hidden_size % model.num_heads != 0) {
        fields.refuse("hidden_size " + std::to_string(model.hidden_size) +
                      " is no multiple of num_attention_heads " + std::to_string(model.num_heads));
    }
    const int64_t otherwise = family.head_dim > 0 ? family.head_dim : model.hidden_size / model.num_heads;
    model.head_dim = fields.integer_or("head_dim", std::max<int64_t>(1, otherwise), 100'000);
    if (model.head_dim % 2 != 0) {
        fields.refuse("head_dim " + std::to_string(model.head_dim) +
                      " is odd: a rotary embedding turns pairs");
    }
}

/// Returns the padding token. torch.nn.Embedding counts a negative index from the end of the table.
std::optional<int64_t> read_padding_token(const ConfigFields& fields, const Family& family,
                                          int64_t vocabulary) {
    std::optional<int64_t> token = family.padding_token;
    if (fields.has("pad_token_id")) {
        const std::optional<double> given = fields.optional_number("pad_token_id");
        token = given ? std::optional(static_cast<int64_t>(std::clamp(*given, -1e12, 1e12))) : std::nullopt;
    }
    if (token && *token < 0) *token += vocabulary;
    return token && *token >= 0 && *token < vocabulary ? token : std::nullopt;
}

void read_sizes(const ConfigFields& fields, const Family& family, ModelConfig& model) {
    model.hidden_size = fields.integer("hidden_size", 1'000'000);
    model.num_layers = family.layers_of != nullptr ? family.layers_of(fields)
                                                   : fields.integer("num_hidden_layers", kMostLayers);
    if (model.num_layers < 1 || model.num_layers > kMostLayers)
        fields.refuse("it has no layers, or more than " + std::to_string(kMostLayers));
    model.num_heads = fields.integer("num_attention_heads", 100'000);
    model.intermediate_size =
        family.widths_of_hidden > 0
            ? fields.integer_or(family.width_field, family.widths_of_hidden * model.hidden_size, 10'000'000)
            : fields.integer(family.width_field, 10'000'000);
    model.vocab_size = fields.integer("vocab_size", 100'000'000);
    const int64_t kv_heads = fields.is_null("num_key_value_heads") ? 0 : family.kv_heads;
    model.num_kv_heads =
        fields.integer_or("num_key_value_heads", kv_heads > 0 ? kv_heads : model.num_heads, 100'000);
    if (model.num_heads % model.num_kv_heads != 0) {
        fields.refuse("num_attention_heads " + std::to_string(model.num_heads) +
                      " is no multiple of num_key_value_heads " + std::to_string(model.num_kv_heads));
    }
    read_head_dim(fields, family, model);
    model.padding_token = read_padding_token(fields, family, model.vocab_size);
    model.max_position_embeddings =
        fields.integer_or("max_position_embeddings", family.max_position, int64_t{1} << 40);
    model.rms_norm_eps = fields.positive_or(family.norm_eps_field, family.norm_eps);
    model.initializer_range = fields.number_or("initializer_range", 0.02);
    if (!(model.initializer_range >= 0)) fields.refuse("'initializer_range' must not be below 0");
    model.tie_word_embeddings = fields.flag_or("tie_word_embeddings", family.tied);
}

/// Reads how bitsandbytes quantised the weights. MXFP4 weights are dequantised when they are read, as
/// transformers does if it trains them. Rejects other formats.
Quantization read_quantization(const ConfigFields& reader) {
    const std::optional<ConfigFields> said = reader.object("quantization_config");
    if (!said) return {};
    const std::string method = said->text_or("quant_method", "");
    if (method == "mxfp4") return {};
    if (method != "bitsandbytes")
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

/// Adds an obstacle for each field that was not read and may have an effect.
void note_unread(const ConfigFields& fields, ModelConfig& model) {
    for (const std::string& name : fields.unread()) {
        if (name.ends_with("_token_id")) continue;
        if (std::find(kWithoutEffect.begin(), kWithoutEffect.end(), name) == kWithoutEffect.end())
            model.obstacles.push_back(name);
    }
}

const Family& family_of(const ConfigFields& fields) {
    const std::string type = fields.text_or("model_type", "");
    if (type.empty()) fields.refuse("'model_type' is missing");
    if (const Family* family = find_family(type)) return *family;
    fields.refuse("model type '" + type + "' is unknown here", "known: " + family_names());
}

/// Replaces the family's names of fields by the common ones.
json with_common_names(const Family& family, json values) {
    for (const auto& [common, own] : family.fields) {
        const auto found = values.find(own);
        if (found == values.end()) continue;
        json value = *found;
        values.erase(found);
        values[std::string(common)] = std::move(value);
    }
    return values;
}

/// Pairs the common names of fields with the family's, except if the file has only the common name.
ConfigFields::Renamed renamed_fields(const Family& family, const ConfigFields& given) {
    ConfigFields::Renamed renamed;
    for (const auto& [common, own] : family.fields)
        if (given.values().contains(own) || !given.values().contains(common))
            renamed.emplace_back(common, own);
    return renamed;
}

ModelConfig read_text_model(const ConfigFields& given) {
    const Family& family = family_of(given);
    const json values = with_common_names(family, given.values());
    const ConfigFields fields(values, given.where(), renamed_fields(family, given));
    ModelConfig model;
    model.model_type = family.type;
    model.quantization = read_quantization(fields);
    read_sizes(fields, family, model);
    read_activation(fields, family, model);
    model.ropes = {read_rope(fields, family, model)};
    family.describe(fields, model);
    refuse_absurd_size(model, fields.where());
    note_unread(fields, model);
    for (std::string& obstacle : model.obstacles) obstacle = fields.in_files(obstacle);
    const std::vector<std::string> missing = not_computed(model);
    model.obstacles.insert(model.obstacles.end(), missing.begin(), missing.end());
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
    const double inputs = double(model.layer_inputs_width) *
                          (double(model.layer_inputs_vocabulary) + double(model.hidden_size));
    const double parameters = 2.0 * double(model.vocab_size) * double(model.hidden_size) + inputs +
                              double(model.num_layers) * (mlp + attention);
    if (parameters > 1e15)
        throw Error(Failure::Refused, Code("MODEL-CONFIG"),
                    "its sizes multiply to more than 10^15 parameters", where);
}

/// Reads a model. A multimodal wrapper's settings for tied embeddings and quantised weights replace those of
/// its text part.
ModelConfig model_config_from_json(const json& values, const std::string& where) {
    const ConfigFields fields(values, where);
    const Wrapper* wrapper = find_wrapper(fields.text_or("model_type", ""));
    if (wrapper == nullptr) return read_text_model(fields);
    if (!fields.object("text_config")) fields.refuse("'text_config' is missing");
    json text = values["text_config"];
    if (!text.contains("model_type")) text["model_type"] = wrapper->text_type;
    for (const char* shared : {"tie_word_embeddings", "quantization_config"})
        if (values.contains(shared)) text[shared] = values[shared];
    ModelConfig model = read_text_model(ConfigFields(text, where + ": text_config"));
    model.weight_prefix = wrapper->weight_prefix;
    return model;
}

ModelConfig read_model_config(const std::string& model_dir) {
    const std::filesystem::path path = std::filesystem::path(model_dir) / "config.json";
    std::ifstream file(path);
    if (!file || std::filesystem::is_directory(path)) {
        throw Error(Failure::Usage, Code("MODEL-MISSING"), "holds no readable config.json", model_dir,
                    "base_model is a Hugging Face model folder, or a hub id");
    }
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    const json values = json::parse(with_finite_numbers(text), nullptr, false);
    if (values.is_discarded())
        throw Error(Failure::Refused, Code("MODEL-CONFIG"), "is not valid JSON", path.string());
    return model_config_from_json(values, path.string());
}

}  // namespace ringmaster
