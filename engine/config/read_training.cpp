#include "engine/config/precision.h"
#include "engine/config/sections.h"

namespace ringmaster {
namespace {

using nlohmann::json;

void read_learning_rate(KeyReader& keys, Config& config) {
    take(config.learning_rate, keys.number("learning_rate"));
    if (!keys.has("learning_rate") && !config.accelerate_only) {
        keys.error(Form("CFG-MISSING", "learning_rate"), "learning_rate");
    }
}

void read_warmup(KeyReader& keys, Config& config) {
    const json* steps = keys.find("warmup_steps");
    if (steps && steps->is_number_float() && *steps > 0 && *steps < 1) {
        keys.error(Form("CFG-TYPE", "share"), "warmup_steps", {{"value", shown(*steps)}});
    } else {
        take(config.warmup_steps, keys.whole("warmup_steps", {0}));
    }
    take(config.warmup_ratio, keys.number("warmup_ratio", {.least = 0, .most = 1}));
    if (config.warmup_steps && config.warmup_ratio > 0) {
        keys.warn(Form("CFG-WARMUP", "both"), "warmup_ratio",
                  {{"steps", *config.warmup_steps}, {"ratio", config.warmup_ratio}});
        config.warmup_ratio = 0;
    }
    if (config.warmup_steps == 1) {
        keys.inform(Form("CFG-WARMUP", "one"), "warmup_steps");
    }
    const bool warmup = config.warmup_steps.value_or(0) > 0 || config.warmup_ratio > 0;
    if (warmup && config.lr_scheduler == LrScheduler::Constant) {
        keys.warn(Form("CFG-WARMUP", "constant"), config.warmup_steps ? "warmup_steps" : "warmup_ratio");
    }
    if (!keys.has("warmup_steps") && !keys.has("warmup_ratio") && !config.accelerate_only &&
        config.lr_scheduler != LrScheduler::Constant) {
        keys.inform(Form("CFG-WARMUP", "none"), "warmup_steps");
    }
}

}  // namespace

void read_optimizer(KeyReader& keys, Config& config) {
    read_learning_rate(keys, config);
    read_schedule(keys, config);
    read_warmup(keys, config);
    read_update(keys, config);
    read_learning_rates(keys, config);
}

namespace {

void read_bf16(KeyReader& keys, Config& config) {
    const json* bf16 = keys.find("bf16");
    const std::string word = bf16 && bf16->is_string() ? bf16->get<std::string>() : "";
    if (word == "full") {
        config.precision = Precision::Bf16Full;
    } else if (word == "auto" || (bf16 && as_flag(*bf16) == true)) {
        config.precision = Precision::Bf16Mixed;
    } else if (bf16 && !as_flag(*bf16)) {
        keys.error(Form("CFG-VALUE", "bf16"), "bf16", {{"value", shown(*bf16)}});
    }
    if (keys.flag("bfloat16") == true) {
        if (config.precision == Precision::Bf16Mixed) {
            keys.warn(Form("CFG-CONFLICT", "bfloat16"), "bfloat16");
        }
        config.precision = Precision::Bf16Full;
    }
}

/// Reads fp16 as axolotl's resolve_dtype does: it overrides `bf16: auto`, and any other bf16 overrides it.
/// fp16 and bfloat16 together are an error, as in transformers.
void read_fp16(KeyReader& keys, Config& config) {
    const bool asked = keys.flag("fp16").value_or(false);
    const json* bf16 = keys.find("bf16");
    if (asked && keys.flag("bfloat16") == true) {
        keys.error(Form("CFG-CONFLICT", "fp16-bfloat16"), "fp16");
    } else if (asked && config.precision != Precision::Float32 && *bf16 != "auto") {
        keys.warn(Form("CFG-CONFLICT", "fp16"), "fp16");
    } else if (asked) {
        config.precision = kFp16Mixed;
    }
}

}  // namespace

void read_precision(KeyReader& keys, Config& config) {
    read_bf16(keys, config);
    read_fp16(keys, config);
    const bool said = keys.has("bf16") || keys.has("bfloat16") || keys.has("fp16");
    if (!said && !config.accelerate_only) {
        keys.inform(Form("CFG-PRECISION"), "bf16");
    }
}

}  // namespace ringmaster
