/// Holds two values of each key that is listed as used, for tests that the two values have different
/// effects. Folders that are named here exist only if a test makes them.
#pragma once

#include <array>
#include <string>

#include "tests/config/reading.h"

namespace ringmaster {

/// Holds two values of a key, with the other lines that the key needs.
struct Sample {
    const char* key;
    const char* beside;
    const char* one;
    const char* other;
    bool refusal_counts = true;  ///< if true, it is an effect that only one value is refused
};

inline constexpr const char* kLora =
    "adapter: lora\nlora_r: 8\nlora_alpha: 16\nlora_target_modules: [q_proj]\n";
inline constexpr const char* kQlora =
    "load_in_4bit: true\nadapter: qlora\nlora_r: 8\nlora_alpha: 16\nlora_target_modules: [q_proj]\n";
inline constexpr const char* kExperts = "base_model: ./experts\n";
inline constexpr const char* kExpertLora =
    "base_model: ./experts\nadapter: lora\nlora_r: 8\nlora_alpha: 16\n";
inline constexpr const char* kExpertQlora =
    "base_model: ./experts\nload_in_4bit: true\nadapter: qlora\nlora_r: 8\nlora_alpha: 16\n"
    "lora_target_modules: [q_proj]\n";
inline constexpr const char* kPrompt = "sample_prompts: [Once]\n";
inline constexpr const char* kStream = "datasets:\nmax_steps: 10\npretraining_dataset: {path: owner/rows}\n";

/// Lists keys whose values are words, paths or mappings, or that have an effect only together with other
/// keys.
inline const std::array kSamples = std::to_array<Sample>({
    {"model_config", kExperts, "{output_router_logits: true}", "{output_router_logits: false}"},
    {"overrides_of_model_config", kExperts, "{output_router_logits: true, router_aux_loss_coef: 0.1}",
     "{output_router_logits: true, router_aux_loss_coef: 0.2}"},
    {"lora_target_parameters", kExpertLora, "mlp.experts.gate_up_proj", "mlp.experts.down_proj"},
    {"quantize_moe_experts", kExpertQlora, "true", "false"},
    {"expert_parallel_size", kExperts, "1", "2"},
    {"base_model", "", "owner/one", "owner/other"},
    {"bf16", "", "true", "full"},
    {"datasets", "", "[{path: owner/one, type: alpaca}]", "[{path: owner/other, type: alpaca}]"},
    {"test_datasets", "", "[{path: owner/one, type: alpaca}]", "[{path: owner/other, type: alpaca}]"},
    {"pretraining_dataset", kStream, "{path: owner/one}", "{path: owner/other}"},
    {"streaming", "max_steps: 10\n", "true", "false"},
    {"pretrain_multipack_buffer_size", kStream, "100", "200"},
    {"streaming_multipack_buffer_size", kStream, "100", "200"},
    {"strict", "nonsense: 1\n", "true", "false"},  // refuses a key that axolotl does not know
    {"special_tokens", "", "{pad_token: a}", "{pad_token: b}"},
    {"added_tokens_overrides", "", "{128: a}", "{128: b}"},
    {"chat_template_kwargs", "", "{a: 1}", "{a: 2}"},
    {"dataset_shard_idx", "dataset_shard_num: 4\n", "1", "2"},
    {"excess_length_strategy", "", "drop", "truncate"},
    {"optimizer", "", "adamw_torch", "adamw_8bit"},
    {"optim_args", "optimizer: sgd\n", "{momentum: 0.9}", "{momentum: 0.8}"},
    {"adam_beta3", "optimizer: came_pytorch\n", "0.99", "0.9"},
    {"adam_epsilon2", "optimizer: came_pytorch\n", "0.1", "0.2"},
    {"lr_groups", "", "[{name: a, modules: [q_proj], lr: 0.1}]", "[{name: a, modules: [q_proj], lr: 0.2}]"},
    {"early_stopping_patience", "learning_rate: 1e-30\nval_set_size: 0.1\nsave_steps: 1\neval_steps: 1\n",
     "1", "2"},
    {"loss_watchdog_threshold", "loss_watchdog_patience: 1\n", "0.1", "100.0"},
    {"loss_watchdog_patience", "loss_watchdog_threshold: 0.1\n", "1", "2"},
    {"load_best_model_at_end", "learning_rate: 9\nval_set_size: 0.1\nsave_steps: 1\neval_steps: 1\n", "true",
     "false"},
    {"metric_for_best_model", "val_set_size: 0.1\n", "eval_loss", "eval_ppl"},
    {"greater_is_better", "val_set_size: 0.1\nmetric_for_best_model: loss\n", "true", "false"},
    {"neftune_noise_alpha", "", "5", "10"},
    {"noisy_embedding_alpha", "", "5", "10"},
    {"pad_to_multiple_of", "neftune_noise_alpha: 5\n", "8", "16"},
    {"lr_scheduler", "", "cosine", "linear"},
    {"lr_scheduler_kwargs", "lr_scheduler: cosine_with_restarts\n", "{num_cycles: 2}", "{num_cycles: 3}"},
    {"warmup_ratio", "warmup_steps:\n", "0.25", "0.75"},
    {"lr_quadratic_warmup", "warmup_steps: 3\n", "true", "false"},
    {"num_epochs", "max_steps:\n", "1", "2"},
    {"unfrozen_parameters", "", "['^lm_head']", "['^model.embed_tokens']"},
    {"pad_to_sequence_len", "neftune_noise_alpha: 5\n", "true", "false"},
    {"cosine_constant_lr_ratio", "cosine_min_lr_ratio: 0.1\n", "0.5", "0.8"},
    {"selective_checkpointing", "gradient_checkpointing: true\n", "null", "attention"},
    {"activation_offloading", "gradient_checkpointing: true\n", "true", "false"},
    {"tiled_mlp_num_shards", "tiled_mlp: true\n", "2", "4"},
    {"sequence_chunks", "", "2", "3"},
    {"adapter", "lora_r: 8\nlora_alpha: 16\nlora_target_modules: [q_proj]\n", "lora", "null"},
    {"bnb_config_kwargs", kQlora, "{bnb_4bit_quant_type: nf4}", "{bnb_4bit_quant_type: fp4}"},
    {"load_in_4bit", "adapter: qlora\nlora_r: 8\nlora_alpha: 16\nlora_target_modules: [q_proj]\n", "true",
     "false"},
    {"load_in_8bit", kLora, "true", "false"},
    {"lora_model_dir", kLora, "./one", "./other"},
    {"lora_target_modules", kLora, "[q_proj]", "[v_proj]"},
    {"lora_modules_to_save", kLora, "[lm_head]", "[embed_tokens]"},
    {"peft_layers_to_transform", kLora, "[0]", "[1]"},
    {"save_steps", "save_strategy: steps\n", "1", "2"},
    {"saves_per_epoch", "max_steps:\n", "1", "2"},
    {"save_total_limit", "save_steps: 1\n", "1", "2"},
    {"save_strategy", "max_steps:\n", "epoch", "no"},
    {"eval_steps", "val_set_size: 0.1\n", "1", "2"},
    {"eval_batch_size", "val_set_size: 0.5\n", "2", "64"},
    {"evals_per_epoch", "val_set_size: 0.1\n", "1", "2"},
    {"eval_strategy", "max_steps:\nval_set_size: 0.1\n", "epoch", "no"},
    {"evaluation_strategy", "max_steps:\nval_set_size: 0.1\n", "epoch", "no"},
    {"ring_attn_func", "context_parallel_size: 2\n", "batch_zigzag", "batch_stripe"},
    {"fsdp", "", "[full_shard]", "[shard_grad_op]"},
    {"fsdp_config", "fsdp_version: 2\n", "{reshard_after_forward: true}", "{reshard_after_forward: false}"},
    {"deepspeed", "", "deepspeed_configs/zero2.json", "deepspeed_configs/zero3.json"},
    {"batch_size", "gradient_accumulation_steps:\nmicro_batch_size: 2\n", "4", "8"},
    {"bfloat16", "bf16:\n", "true", "false"},
    {"fp16", kLora, "true", "false"},
    {"rl", "", "dpo", "kto"},
    {"rl_beta", "rl: kto\n", "0.2", "0.3"},
    {"dpo_beta", "rl: dpo\n", "0.2", "0.3"},
    {"trl", "rl: dpo\n", "{beta: 0.2}", "{beta: 0.3}"},
    {"dpo_loss_type", "rl: dpo\n", "[sigmoid]", "[hinge]"},
    {"dpo_loss_weights", "rl: dpo\ndpo_loss_type: [hinge, sft]\n", "[1, 0.5]", "[1, 0.2]"},
    {"dpo_label_smoothing", "rl: dpo\ndpo_loss_type: [robust]\n", "0.1", "0.2"},
    {"rpo_alpha", "rl: ipo\n", "0.5", "1"},
    {"orpo_alpha", "rl: orpo\n", "0.2", "0.3"},
    {"simpo_gamma", "rl: simpo\n", "0.5", "1"},
    {"cpo_alpha", "rl: simpo\nsimpo_gamma: 0.5\n", "0", "0.5"},
    {"random_init_weights", "", "true", "false"},
    {"reward_model", "", "true", "false"},
    {"process_reward_model", "", "true", "false"},
    {"num_labels", "process_reward_model: true\n", "2", "3"},
    {"center_rewards_coefficient", "reward_model: true\n", "0.01", "0.1"},
    {"kto_desirable_weight", "rl: kto\n", "1", "0.5"},
    {"kto_undesirable_weight", "rl: kto\n", "1", "0.5"},
    {"sample_max_new_tokens", kPrompt, "8", "16"},
    {"sample_temperature", kPrompt, "0.5", "1"},
    {"sample_top_k", kPrompt, "5", "10"},
    {"sample_top_p", kPrompt, "0.5", "0.9"},
    {"sample_seed", kPrompt, "1", "2"},
});

/// Lists values for keys that need no sample of their own.
inline constexpr std::array<std::array<const char*, 2>, 6> kPairs{
    {{"true", "false"}, {"1", "2"}, {"0.1", "0.2"}, {"one", "other"}, {"[one]", "[other]"}, {"0", "1"}}};

/// Returns the lines that set the sample's key to `value`, with the other lines that the key needs.
inline std::string text_of(const Sample& sample, const char* value) {
    return std::string(sample.beside) + sample.key + ": " + value + "\n";
}

/// Returns whether a reading refuses the sample's key.
inline bool is_refused(const ConfigReading& reading, const Sample& sample) {
    for (const Diagnostic& said : reading.diagnostics) {
        if (said.severity == Severity::Error && said.key == sample.key && said.code != "CFG-LORA")
            return true;
    }
    return false;
}

/// Calls `has_effect` with the key's sample, or with pairs of common values until one has an effect. Returns
/// whether one has.
template <typename HasEffect>
bool some_values_have(const std::string& key, const HasEffect& has_effect) {
    for (const Sample& sample : kSamples) {
        if (sample.key == key) return has_effect(sample);
    }
    for (const char* beside : {"", kLora}) {
        for (const auto& [one, other] : kPairs) {
            if (has_effect(Sample{key.c_str(), beside, one, other, false})) return true;
        }
    }
    return false;
}

}  // namespace ringmaster
