#include <algorithm>
#include <array>

#include "engine/config/lora_targets.h"
#include "engine/config/precision.h"
#include "engine/config/sections.h"

namespace ringmaster {
namespace {

bool uses_flash_library(const std::string& implementation) {
    constexpr std::array<const char*, 4> kFlash{"flash_attention_2", "flash_attention_3",
                                                "kernels-community/flash-attn2",
                                                "kernels-community/flash-attn3"};
    return std::find(kFlash.begin(), kFlash.end(), implementation) != kFlash.end();
}

/// Returns the key with which the file sets the size.
std::string context_key(const KeyReader& keys) {
    return keys.has("context_parallel_size") ? "context_parallel_size" : "sequence_parallel_degree";
}

void check_flash(KeyReader& keys, const Config& config) {
    if (config.accelerate_only || uses_flash_library(config.attn_implementation)) return;
    keys.warn(Form("CFG-FLASH"), context_key(keys));
}

void check_packed_batch(KeyReader& keys, const Config& config) {
    if (!config.sample_packing || config.micro_batch_size <= 1) return;
    keys.warn(Form("CFG-PACKED-BATCH"), "micro_batch_size",
              {{"micro", config.micro_batch_size},
               {"accumulation", config.micro_batch_size * config.gradient_accumulation_steps}});
}

void check_replicas(KeyReader& keys, const Config& config) {
    const bool pure_ulysses = config.ulysses_size > 1 && config.ulysses_size == config.context_parallel_size;
    if (config.dp_replicate_size <= 1 || config.dp_shard_size != 1 || pure_ulysses) return;
    keys.warn(Form("CFG-REPLICAS"), "dp_replicate_size", {{"replicas", config.dp_replicate_size}});
}

/// Notes that varlen_llama3 is ring-flash-attention's method for packed rows.
void say_varlen(KeyReader& keys, const Config& config) {
    if (config.ring_attn_func != RingAttnFunc::VarlenLlama3 || config.sample_packing) return;
    keys.inform(Form("CFG-VARLEN"), "ring_attn_func");
}

/// Notes an error in axolotl's documentation, which shows "2 subsequences of length 4096 across 2 GPUs" for
/// sequence_len 8192 and context_parallel_size 4.
void say_upstream_example(KeyReader& keys, const Config& config) {
    constexpr int64_t kTokens = 8192, kSize = 4;
    if (config.sequence_len != kTokens || config.context_parallel_size != kSize) return;
    keys.inform(Form("CFG-UPSTREAM"), context_key(keys));
}

/// Rejects adamw_anyprecision under full bfloat16: torchdistx rounds the decayed weight to bfloat16 before it
/// adds the change.
void check_anyprecision(KeyReader& keys, const Config& config) {
    if (config.optimizer != "adamw_anyprecision" || config.precision != Precision::Bf16Full) return;
    keys.error(Form("CFG-CONFLICT", "anyprecision"), "optimizer");
}

/// Rejects float16 for weights that are trained in full: axolotl loads them in float16, and torch's
/// GradScaler then fails with "Attempting to unscale FP16 gradients". An adapter's matrices are float32 on a
/// float16 model.
void check_fp16(KeyReader& keys, const Config& config) {
    if (config.precision != kFp16Mixed || config.accelerate_only) return;
    if (!config.lora.on()) {
        const nlohmann::json* bf16 = keys.find("bf16");
        const bool falls_back = bf16 && *bf16 == "auto";
        keys.error(Form("KEY-UNSUPPORTED", falls_back ? "fp16-auto" : "fp16-whole"), "fp16");
    } else if (!targets_of(config.lora).saved_modules().empty()) {
        keys.error(Form("KEY-UNSUPPORTED", "fp16-saved"), "fp16");
    }
}

}  // namespace

void check_rules(KeyReader& keys, const Config& config) {
    say_trackers(keys);
    check_anyprecision(keys, config);
    check_fp16(keys, config);
    if (config.context_parallel_size > 1) {
        check_flash(keys, config);
        check_packed_batch(keys, config);
        if (!config.accelerate_only) check_replicas(keys, config);
        say_varlen(keys, config);
        say_upstream_example(keys, config);
    }
    if (config.attn_implementation == "sdpa" && config.sample_packing) {
        keys.warn(Form("CFG-SDPA-PACKING"), "sample_packing");
    }
    const bool is_sharded = config.zero_stage_asked > 0 || config.expert_parallel_size > 1;
    if (config.dp_shard_size > 1 && !is_sharded && !config.accelerate_only) {
        keys.warn(Form("CFG-SHARD"), "dp_shard_size", {{"full", "{reshard_after_forward: true}"}});
    }
}

}  // namespace ringmaster
