// Lists the edits that replace an unsupported key as closely as possible. A key in none of these lists asks
// for something fundamental, such as another objective or another kind of model, which nothing can replace.
#include <algorithm>
#include <array>
#include <string>

#include "engine/config/document.h"
#include "engine/config/key_table.h"

namespace ringmaster {
namespace {

constexpr std::string_view kLeaveOut = "leave it out";

/// Keys that can be removed without changing the rows or the objective.
constexpr std::array<std::string_view, 7> kRemovable{
    "peft_trainable_token_indices lora_rank_pattern "
    "lora_alpha_pattern peft_layers_to_transform peft_layers_pattern peft_layer_replication "
    "mora peft_ensure_weight_tying peft_autocast_adapter_dtype "
    "peft_init_lora_weights peft relora relora_steps",
    "load_in_8bit load_in_4bit qat use_onebitllms "
    "lisa_step_interval lisa_n_layers spectrum_top_fraction",
    "tokens added_tokens_overrides resize_token_embeddings_to_32x shrink_embeddings fix_untrained_tokens "
    "default_system_message",
    "tensor_parallel_size s2_attention landmark_attention xpos_rope scaling_softmax "
    "expert_backend nonexpert_quantization moe_grouped_backend moe_dequant_chunk_size moe_bnb_fast "
    "dsv4_fp8_nonexpert_mode dsv4_fp8_lora_kernel dsv4_shared_mlp_lora_kernel dsv4_bf16_all "
    "dsv4_fp4_grouped_mode "
    "gemma4_fp8_nonexpert gemma4_nf4_nonexpert nvfp4_merge_aware",
    "use_eaft liger_use_token_scaling label_smoothing_factor "
    "llmcompressor dense_mixer",
    "lr_scheduler_kwargs lr_quadratic_warmup "
    "cosine_constant_lr_ratio "
    "jagged_restart_steps auto_find_batch_size "
    "resume_from_checkpoint",
    "dataloader_drop_last "
    "accelerator_config pretrain_multipack_attn use_pose eval_sequence_len "
    "shuffle_before_merging_datasets "
    "save_safetensors"};

struct Replacement {
    std::string_view key, by, value;
};
constexpr std::array<Replacement, 4> kReplacements{{
    {"float16", "bf16", "true"},
    {"fp8", "bf16", "true"},
    {"load_4bit", "load_in_4bit", "true"},
    {"max_packed_sequence_len", "sample_packing", "true"},
}};

bool is_removable(std::string_view key) {
    const std::string word = " " + std::string(key) + " ";
    return std::any_of(kRemovable.begin(), kRemovable.end(), [&](std::string_view keys) {
        return (" " + std::string(keys) + " ").find(word) != std::string::npos;
    });
}

/// Describes what else changes if a key is removed.
struct Effect {
    std::string_view key, text;
};
constexpr std::array<Effect, 2> kEffects{{
    {"load_in_4bit",
     "the frozen weights are kept in 16 bits, about four times their memory, and without rounding"},
    {"load_in_8bit",
     "the frozen weights are kept in 16 bits, about twice their memory, and without rounding"},
}};

/// Returns the effect stated by a hint such as "leave it out: all layers are adapted".
std::string effect_of(std::string_view key, std::string_view hint) {
    for (const Effect& effect : kEffects) {
        if (effect.key == key) return std::string(effect.text);
    }
    const bool says = hint.starts_with(kLeaveOut) && hint.size() > kLeaveOut.size() + 2;
    return says ? std::string(hint.substr(kLeaveOut.size() + 2)) : "the run trains without it";
}

}  // namespace

std::vector<Fix> fixes_for(const KeyRule& rule, const Document& document) {
    const std::string key(rule.key);
    for (const Replacement& one : kReplacements) {
        if (one.key != key) continue;
        const std::string by(one.by), value(one.value);
        const nlohmann::json* there = document.find(by);
        if (there && is_on(*there)) return {{{{key, "", true}}, "", by + " stays as it is"}};
        return {{{{by, value}, {key, "", true}}, "", by + ": " + value + " instead"}};
    }
    if (!is_removable(key)) return {};
    return {{{{key, "", true}}, "", effect_of(key, rule.hint)}};
}

}  // namespace ringmaster
