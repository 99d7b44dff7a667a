// Reads load_in_4bit, load_in_8bit, bnb_config_kwargs and quantize_moe_experts: how an adapter's frozen
// weights are kept.
#include <algorithm>

#include "engine/config/keys.h"
#include "engine/config/precision.h"
#include "engine/config/sections.h"
#include "engine/words/spelling.h"

namespace ringmaster {
namespace {

using nlohmann::json;

constexpr const char* kFour = "load_in_4bit";
constexpr const char* kEight = "load_in_8bit";
constexpr const char* kExperts = "quantize_moe_experts";
constexpr const char* kBitsAndBytes = "bnb_config_kwargs";

std::string of_kwargs(const std::string& key) {
    return std::string(kBitsAndBytes) + "." + key;
}

/// Returns the dtype of computation in bitsandbytes' words.
std::string compute_dtype(const Config& config) {
    if (config.precision == kFp16Mixed) return "float16";
    return config.precision == Precision::Float32 ? "float32" : "bfloat16";
}

void check_compute_dtype(KeyReader& keys, const Config& config) {
    const std::string key = of_kwargs("bnb_4bit_compute_dtype");
    const auto said = keys.word(key, {"float32", "bfloat16", "float16"});
    if (!said || *said == compute_dtype(config)) return;
    keys.error(Form("CFG-QUANTIZED", "dtype"), key, {{"value", *said}, {"dtype", compute_dtype(config)}});
}

/// Rejects llm_int8_skip_modules, except for lm_head, which is never quantised anyway.
void check_skipped(KeyReader& keys) {
    const std::string key = of_kwargs("llm_int8_skip_modules");
    const json* said = keys.find(key);
    if (!said || !is_on(*said) || *said == json{"lm_head"}) return;
    keys.error(Form("KEY-UNSUPPORTED", "skip-modules"), key, {{"value", shown(*said)}});
}

/// Checks the names against those that BitsAndBytesConfig takes.
void check_names(KeyReader& keys, const json& kwargs) {
    static const std::vector<std::string> known = {"bnb_4bit_quant_type", "bnb_4bit_use_double_quant",
                                                   "bnb_4bit_compute_dtype", "bnb_4bit_quant_storage",
                                                   "llm_int8_skip_modules"};
    // These three keys change how other formats compute, or where weights are stored.
    static const std::vector<std::string> other = {"llm_int8_threshold", "llm_int8_has_fp16_weight",
                                                   "llm_int8_enable_fp32_cpu_offload"};
    for (const auto& [key, value] : kwargs.items()) {
        if (std::ranges::count(known, key) + std::ranges::count(other, key) > 0) continue;
        if (key == kFour && value == true) continue;
        const std::string nearest = nearest_word(key, known);
        keys.error(Form("CFG-QUANTIZED", nearest.empty() ? "kwarg" : "kwarg-near"), of_kwargs(key),
                   {{"name", key}, {"nearest", nearest}});
    }
}

void read_kwargs(KeyReader& keys, Config& config) {
    const json* kwargs = keys.find(kBitsAndBytes);
    if (!kwargs || !is_on(*kwargs)) return;
    if (!kwargs->is_object()) {
        keys.error(Form("CFG-TYPE", "kwargs"), kBitsAndBytes, {{"value", shown(*kwargs)}});
        return;
    }
    check_names(keys, *kwargs);
    take(config.quantization.format,
         keys.choice<WeightFormat>(of_kwargs("bnb_4bit_quant_type"), {"nf4", "fp4"}));
    take(config.quantization.nested, keys.flag(of_kwargs("bnb_4bit_use_double_quant")));
    keys.word(of_kwargs("bnb_4bit_quant_storage"), {"uint8", "bfloat16", "float16", "float32"});
    check_compute_dtype(keys, config);
    check_skipped(keys);
}

/// Returns whether adapter, load_in_4bit and load_in_8bit can be combined; reports combinations that axolotl
/// also refuses.
bool belong_together(KeyReader& keys, bool four, bool eight) {
    const json* said = keys.find("adapter");
    const std::string adapter = said && said->is_string() ? said->get<std::string>() : "";
    if (adapter == "qlora" && eight) {
        keys.error(Form("CFG-QUANTIZED", "eight"), kEight);
        return false;
    }
    if (adapter == "qlora" && !four) {
        keys.missing(Form("CFG-MISSING", "four"), kFour, "adapter");
        return false;
    }
    if (adapter.empty() && (four || eight)) {
        keys.error(Form("CFG-QUANTIZED", "no-adapter"), four ? kFour : kEight,
                   {{"adapter", four ? "qlora" : "lora"}});
        return false;
    }
    if (adapter == "lora" && four) {
        keys.warn(Form("CFG-QUANTIZED", "unquantized"), kFour);
    }
    return true;
}

/// Reads quantize_moe_experts. Refuses settings that axolotl refuses. Also refuses 4-bit formats other than
/// NF4 with quantised scales: axolotl always quantises experts in that format, and would use another one for
/// the base model only.
void read_experts(KeyReader& keys, Config& config) {
    if (!keys.flag(kExperts).value_or(false)) return;
    if (!config.quantization.on()) return keys.error(Form("CFG-QUANTIZED", "experts"), kExperts);
    if (keys.flag("lora_target_linear").value_or(false))
        return keys.error(Form("CFG-QUANTIZED", "experts-linear"), kExperts);
    const Quantization& base = config.quantization;
    if (base.is_4bit() && (base.format != WeightFormat::Nf4 || !base.nested))
        return keys.error(Form("CFG-QUANTIZED", "experts-format"), kExperts);
    config.quantization.experts = true;
}

}  // namespace

void read_quantization(KeyReader& keys, Config& config) {
    const bool four = keys.flag(kFour).value_or(false), eight = keys.flag(kEight).value_or(false);
    if (!belong_together(keys, four, eight)) return;
    const json* adapter = keys.find("adapter");
    if (config.lora.on() && *adapter == "qlora") {
        config.quantization.format = WeightFormat::Nf4;
        read_kwargs(keys, config);
    } else if (config.lora.on() && eight) {
        config.quantization.format = WeightFormat::Int8;
    }
    read_experts(keys, config);
}

}  // namespace ringmaster
