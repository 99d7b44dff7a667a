#include "engine/config/keys.h"
#include "engine/config/optimizers.h"
#include "engine/config/sections.h"

namespace ringmaster {
namespace {

using nlohmann::json;

void read_learning_rate(KeyReader& keys, Config& config) {
    take(config.learning_rate, keys.number("learning_rate"));
    if (!keys.has("learning_rate") && !config.accelerate_only) {
        keys.error("CFG-MISSING", "learning_rate", "learning_rate is missing", "learning_rate: 2e-5");
    }
}

void read_warmup(KeyReader& keys, Config& config) {
    const json* steps = keys.find("warmup_steps");
    if (steps && steps->is_number_float() && *steps > 0 && *steps < 1) {
        keys.error("CFG-TYPE", "warmup_steps", "warmup_steps is " + shown(*steps) + ", a share of all steps",
                   "warmup_ratio: " + shown(*steps));
    } else {
        take(config.warmup_steps, keys.whole("warmup_steps", {0}));
    }
    take(config.warmup_ratio, keys.number("warmup_ratio", {.least = 0, .most = 1}));
    if (config.warmup_steps && config.warmup_ratio > 0) {
        keys.warn("CFG-WARMUP", "warmup_ratio",
                  "warmup_steps " + std::to_string(*config.warmup_steps) + " wins over warmup_ratio " +
                      shown(config.warmup_ratio) + "; axolotl refuses both together",
                  "keep one of them");
        config.warmup_ratio = 0;
    }
    if (config.warmup_steps == 1) {
        keys.inform("CFG-WARMUP", "warmup_steps", "axolotl makes two warmup steps of one; here it is one");
    }
    const bool warmup = config.warmup_steps.value_or(0) > 0 || config.warmup_ratio > 0;
    if (warmup && config.lr_scheduler == LrScheduler::Constant) {
        keys.warn("CFG-WARMUP", config.warmup_steps ? "warmup_steps" : "warmup_ratio",
                  "lr_scheduler: constant has no warmup, as in transformers",
                  "lr_scheduler: constant_with_warmup");
    }
    if (!keys.has("warmup_steps") && !keys.has("warmup_ratio") && !config.accelerate_only &&
        config.lr_scheduler != LrScheduler::Constant) {
        keys.inform("CFG-WARMUP", "warmup_steps",
                    "no warmup: none is asked for; axolotl would warm up over 3 % of the steps, at most 100",
                    "warmup_ratio: 0.03");
    }
}

/// The nearest that works, of a name of axolotl's or transformers'; of a stranger, the one spelt like it.
void refuse_optimizer(KeyReader& keys, const std::string& said) {
    std::string nearest(nearest_optimizer(said));
    if (nearest.empty()) nearest = nearest_word(said, known_optimizers());
    keys.error("KEY-UNSUPPORTED", "optimizer",
               "optimizer '" + said + "' is not supported: it would train otherwise",
               "optimizer: " + (nearest.empty() ? "adamw_torch" : nearest));
}

void read_optimizer_name(KeyReader& keys, Config& config) {
    const auto said = keys.text("optimizer");
    if (!said) return;
    const OptimizerKind* kind = find_optimizer(*said);
    if (!kind) return refuse_optimizer(keys, *said);
    config.optimizer = *said;
    config.optimizer_offloading = kind->paged;
}

void read_adamw(KeyReader& keys, Config& config) {
    read_optimizer_name(keys, config);
    take(config.weight_decay, keys.number("weight_decay"));
    take(config.adam_beta1, keys.number("adam_beta1", {.least = 0, .most = 1, .open_above = true}));
    take(config.adam_beta2, keys.number("adam_beta2", {.least = 0, .most = 1, .open_above = true}));
    take(config.adam_epsilon, keys.number(keys.has("adam_epsilon") ? "adam_epsilon" : "adam_eps"));
    if (keys.has("adam_eps"))
        keys.warn("CFG-DEPRECATED", "adam_eps",
                  keys.has("adam_epsilon") ? "adam_epsilon wins over adam_eps, which axolotl never read"
                                           : "adam_eps is taken for adam_epsilon; axolotl never read it",
                  "adam_epsilon");
    if (const auto norm = keys.number("max_grad_norm")) {
        config.max_grad_norm = *norm > 0 ? std::optional(*norm) : std::nullopt;
    }
}

}  // namespace

void read_optimizer(KeyReader& keys, Config& config) {
    read_learning_rate(keys, config);
    read_schedule(keys, config);
    read_warmup(keys, config);
    read_adamw(keys, config);
}

void read_precision(KeyReader& keys, Config& config) {
    const json* bf16 = keys.find("bf16");
    const std::string word = bf16 && bf16->is_string() ? bf16->get<std::string>() : "";
    if (word == "full") {
        config.precision = Precision::Bf16Full;
    } else if (word == "auto" || (bf16 && as_flag(*bf16) == true)) {
        config.precision = Precision::Bf16Mixed;
    } else if (bf16 && !as_flag(*bf16)) {
        keys.error("CFG-VALUE", "bf16", "bf16 is " + shown(*bf16) + ", known are true, false, auto and full",
                   "bf16: auto");
    }
    if (keys.flag("bfloat16") == true) {
        if (config.precision == Precision::Bf16Mixed) {
            keys.warn("CFG-CONFLICT", "bfloat16",
                      "bfloat16: true wins over bf16: all weights and optimizer states are in bf16",
                      "keep bf16: true alone for fp32 weights");
        }
        config.precision = Precision::Bf16Full;
    }
    if (!bf16 && !keys.has("bfloat16") && !config.accelerate_only) {
        keys.inform("CFG-PRECISION", "bf16", "fp32: no bf16 key asks for less; axolotl would take bf16: auto",
                    "bf16: auto");
    }
}

}  // namespace ringmaster
