#include "engine/config/key_table.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "engine/config/document.h"

namespace ringmaster {
namespace {

using nlohmann::json;

std::vector<KeyGroup> used_keys() {
    return {
        {Fate::Used, "", "", "",
         "base_model tokenizer_config tokenizer_type tokenizer_legacy "
         "tokenizer_use_mistral_common "
         "trust_remote_code revision_of_model model_revision reinit_weights random_init_weights "
         "special_tokens "
         "overrides_of_model_config model_config "
         "chat_template chat_template_jinja chat_template_kwargs eot_tokens train_on_inputs datasets "
         "test_datasets val_set_size dataset_prepared_path sequence_len min_sample_len "
         "pretraining_dataset streaming pretrain_multipack_buffer_size streaming_multipack_buffer_size "
         "tokens added_tokens_overrides resize_token_embeddings_to_32x mean_resizing_embeddings "
         "shrink_embeddings default_system_message dataset_exact_deduplication shuffle_merged_datasets "
         "shuffle_before_merging_datasets dataset_shard_num dataset_shard_idx "
         "excess_length_strategy sample_packing pad_to_sequence_len curriculum_sampling seed "
         "micro_batch_size gradient_accumulation_steps batch_size eval_batch_size num_epochs max_steps "
         "optimizer learning_rate lr_scheduler warmup_steps warmup_ratio cosine_min_lr_ratio "
         "cosine_constant_lr_ratio lr_quadratic_warmup lr_scheduler_kwargs "
         "weight_decay adam_beta1 adam_beta2 adam_epsilon adam_eps adam_beta3 adam_epsilon2 optim_args "
         "embedding_lr embedding_lr_scale lr_groups loraplus_lr_ratio max_grad_norm bf16 bfloat16 fp16 "
         "unfrozen_parameters early_stopping_patience load_best_model_at_end metric_for_best_model "
         "greater_is_better group_by_length neftune_noise_alpha noisy_embedding_alpha "
         "loss_watchdog_threshold loss_watchdog_patience "
         "sample_prompts sequence_chunks "
         "gradient_checkpointing selective_checkpointing activation_offloading tiled_mlp "
         "tiled_mlp_num_shards adapter output_dir save_steps saves_per_epoch save_strategy save_total_limit "
         "eval_steps evals_per_epoch eval_strategy evaluation_strategy logging_steps "
         "context_parallel_size sequence_parallel_degree ulysses_size heads_k_stride ring_attn_func "
         "dp_shard_size dp_replicate_size expert_parallel_size fsdp fsdp_config deepspeed "
         "ddp_timeout strict"},
        {Fate::Used, "", "", "adapter",
         "lora_r lora_alpha lora_dropout lora_target_modules lora_target_linear peft_use_rslora "
         "peft_use_dora "
         "lora_model_dir bnb_config_kwargs peft_layers_to_transform lora_modules_to_save "
         "lora_target_parameters"},
        {Fate::Used, "", "", "sample_prompts",
         "sample_max_new_tokens sample_temperature sample_top_k sample_top_p sample_seed"},
        {Fate::Used, "", "", "", "load_in_4bit load_in_8bit quantize_moe_experts"}};
}

std::vector<KeyGroup> model_keys() {
    return {
        {Fate::Unsupported, "trains other weights beside the adapter's",
         "leave it out: the layers' linear modules are adapted", "adapter", "peft_trainable_token_indices"},
        {Fate::Unsupported, "gives modules a rank or scale of their own",
         "one lora_r and lora_alpha for all of them", "adapter", "lora_rank_pattern lora_alpha_pattern"},
        {Fate::Unsupported, "treats some layers otherwise than the rest",
         "leave it out: all layers are adapted", "adapter", "peft_layers_pattern peft_layer_replication"},
        {Fate::Unsupported, "makes another kind of adapter", "leave it out: adapter: lora alone is built",
         "adapter", "mora"},
        {Fate::Unsupported, "starts an adapter otherwise",
         "leave it out: A is Kaiming-uniform and B zero, PEFT's default", "adapter",
         "peft_init_lora_weights"},
        {Fate::Unsupported, "quantizes the frozen weights, or starts the adapter from what that loses",
         "leave it out: bf16: true keeps them in 16 bits", "adapter", "peft"},
        {Fate::NoEffect, "no embedding is adapted", "", "adapter", "loraplus_lr_embedding"},
        {Fate::Unsupported, "keeps an embedding and a head that share weights tied while they are trained",
         "leave it out: each of them is then trained by itself", "adapter", "peft_ensure_weight_tying"},
        {Fate::Unsupported, "trains the adapter in 16 bits", "leave it out: the adapter is trained in fp32",
         "adapter", "peft_autocast_adapter_dtype"},
        {Fate::NoEffect,
         "PEFT switches it off for linear modules, which do not keep their weights transposed", "", "adapter",
         "lora_fan_in_fan_out"},
        {Fate::NoEffect, "how an adapter is computed, loaded or merged, not what it learns", "", "adapter",
         "qlora_sharded_model_loading lora_on_cpu merge_lora merge_method "
         "lora_mlp_kernel lora_qkv_kernel lora_o_kernel lora_embedding_kernel embeddings_skip_upcast "
         "unsloth_lora_mlp unsloth_lora_qkv unsloth_lora_o"},
        {Fate::Unsupported, "ReLoRA is not built", "leave it out", "", "relora"},
        {Fate::Unsupported, "part of ReLoRA", "", "relora",
         "relora_prune_ratio relora_prune_method relora_cpu_offload relora_steps relora_warmup_steps "
         "relora_anneal_steps"},
        {Fate::Unsupported, "quantizes weights in another way than bitsandbytes",
         "adapter: qlora with load_in_4bit: true", "", "gptq model_quantization_config use_onebitllms"},
        {Fate::Unsupported, "rounds weights to fewer bits while they are trained",
         "leave it out: the weights are trained as they are, and can be quantized afterwards", "", "qat"},
        {Fate::Unsupported, "part of quantization", "", "model_quantization_config",
         "model_quantization_config_kwargs"},
        {Fate::Unsupported, "axolotl refuses it: its 4-bit weights have another key", "load_in_4bit: true",
         "", "load_4bit"},
        {Fate::NoEffect, "part of LLaMA-Adapter, which is not built", "", "", "peft_adapter"},
        {Fate::NoEffect, "part of GPTQ, which is not built", "", "gptq",
         "gptq_groupsize gptq_model_v1 gptq_disable_exllama gptq_bits"},
        {Fate::NoEffect, "quantizes the model after training, with a command of its own", "", "",
         "quantization"},
        {Fate::Unsupported, "changes the model's configuration",
         "put it into the config.json of a local base_model", "",
         "overrides_of_model_kwargs model_kwargs rope_scaling "
         "base_model_config cls_model_config"},
        {Fate::Unsupported, "loads another kind of model than those trained here",
         "leave it out: config.json says the architecture", "",
         "model_type type_of_model processor_config is_multimodal"},
        {Fate::Unsupported, "reads rows that hold images or sound, and only text is trained here",
         "leave it out if the rows hold only text", "", "processor_type"},
        {Fate::NoEffect, "images are not trained here, and text rows need no processor", "", "",
         "processor_kwargs image_size image_resize_algorithm role_boundaries freeze_mm_modules"},
        {Fate::Unsupported, "rewrites the embeddings of tokens that no row holds", "leave it out", "",
         "fix_untrained_tokens"},
        {Fate::NoEffect, "transformers 5 loads every tokenizer as a fast one, in axolotl too", "", "",
         "tokenizer_use_fast"},
        {Fate::NoEffect, "the tokenizer's files are copied as they are", "", "",
         "tokenizer_save_jinja_files"},
        {Fate::Unsupported, "trains some of the weights only", "leave it out to train all weights", "",
         "lisa_step_interval lisa_n_layers spectrum_top_fraction"},
        {Fate::NoEffect, "only means something with lisa_step_interval or spectrum_top_fraction", "", "",
         "lisa_layers_attribute spectrum_model_name"},
        {Fate::NoEffect, "the architecture is read from config.json", "", "",
         "is_falcon_derived_model is_llama_derived_model is_mistral_derived_model "
         "is_qwen_derived_model"},
        {Fate::NoEffect, "how weights are loaded and placed is the engine's own", "", "",
         "device device_map max_memory gpu_memory_limit low_cpu_mem_usage "
         "experimental_skip_move_to_device full_finetune torch_dtype base_model_ignore_patterns "
         "ple_cpu_offload inference"},
    };
}

std::vector<KeyGroup> kernel_keys() {
    return {
        {Fate::NoEffect, "picks a faster or smaller way to the same numbers; the engine has its own", "", "",
         "flash_attn_cross_entropy flash_attn_fuse_mlp flash_attn_rms_norm flash_attn_fuse_qkv "
         "flash_optimum flex_attn_compile_kwargs gemma4_hybrid_attn_impl large_head_attention "
         "flash_attn_d512 sdpa_varlen fused_attn_kernel experts_implementation use_kernels "
         "chunked_cross_entropy chunked_cross_entropy_num_chunks cut_cross_entropy "
         "tiled_mlp_use_original_mlp llama4_linearized_experts torch_compile "
         "torch_compile_backend torch_compile_mode torch_compile_options deepcompile liger_rope "
         "liger_rms_norm liger_rms_norm_gated liger_layer_norm liger_swiglu liger_glu_activation "
         "liger_cross_entropy liger_fused_linear_cross_entropy batch_flattening multipack_real_batches "
         "use_scattermoe use_sonicmoe use_dsv4_kernels use_glm_dsa_kernels unsloth_cross_entropy_loss "
         "unsloth_rms_norm unsloth_rope use_cut_cross_entropy liger_kernel_impl"},
        {Fate::NoEffect, "the engine computes attention with kernels of its own, whatever is named here", "",
         "",
         "attn_implementation flash_attention sdp_attention eager_attention xformers_attention "
         "flex_attention sage_attention"},
        {Fate::NoEffect, "how checkpointed activations are kept changes memory and time, not the numbers", "",
         "", "gradient_checkpointing_kwargs layer_offloading gradient_checkpointing_ratio"},
        {Fate::NoEffect, "fp32 products are computed in fp32", "", "", "tf32 float32"},
        {Fate::NoEffect, "no release of axolotl read it: seed alone orders rows", "", "", "data_seed"},
        {Fate::NoEffect, "no release of axolotl read it: output_dir holds the adapter", "", "",
         "lora_out_dir"},
        {Fate::NoEffect, "norms are accumulated in fp32 anyway", "", "", "fp32_norms fp32_norm_classes"},
        {Fate::Unsupported, "computes in float16 without scaling the loss",
         "use fp16: true with an adapter, else bf16: true", "", "float16"},
        {Fate::Unsupported, "fp8 arithmetic is not built", "use bf16: true", "", "fp8"},
        {Fate::NoEffect, "part of fp8", "", "fp8", "fp8_enable_fsdp_float8_all_gather fp8_config"},
        {Fate::NoEffect, "states are sharded by the engine's own means", "", "",
         "fsdp_version fsdp_final_state_dict_type ddp ddp_bucket_cap_mb "
         "ddp_broadcast_buffers ddp_find_unused_parameters"},
        {Fate::Unsupported, "tensor parallelism is not built",
         "split the sequence instead: context_parallel_size", "", "tensor_parallel_size"},
        {Fate::NoEffect, "the engine exchanges tokens by its own means, and drops none", "", "",
         "expert_parallel_backend expert_parallel_num_nvl_bytes expert_parallel_num_rdma_bytes "
         "expert_parallel_token_capacity expert_parallel_fallback_on_unsupported"},
        {Fate::Unsupported, "shifted sparse attention changes what a token sees", "leave it out", "",
         "s2_attention"},
        {Fate::Unsupported, "landmark attention adds tokens that others attend to", "leave it out", "",
         "landmark_attention"},
        {Fate::Unsupported, "xPos scales queries and keys by position",
         "leave it out: config.json says the position embedding", "", "xpos_rope"},
        {Fate::Unsupported, "Scaled Softmax changes the attention", "leave it out", "", "scaling_softmax"},
        {Fate::Unsupported, "part of scaling_softmax", "", "scaling_softmax",
         "scaling_softmax_factor scaling_softmax_bias"},
        {Fate::NoEffect, "ranks and machines are the launcher's: --ranks, --node", "", "",
         "world_size local_rank use_ray ray_run_name ray_num_workers resources_per_worker"},
        {Fate::Unsupported, "part of a plugin's kernels for mixtures of experts", "leave it out", "",
         "expert_backend nonexpert_quantization moe_grouped_backend moe_dequant_chunk_size "
         "moe_bnb_fast dsv4_fp8_nonexpert_mode dsv4_fp8_lora_kernel dsv4_shared_mlp_lora_kernel "
         "dsv4_bf16_all dsv4_fp4_grouped_mode gemma4_fp8_nonexpert gemma4_nf4_nonexpert "
         "nvfp4_merge_aware nvfp4_merge_aware_start_step"},
    };
}

std::vector<KeyGroup> objective_keys() {
    return {
        {Fate::Used, "", "", "", "rl"},
        {Fate::Used, "", "", "rl",
         "rl_beta dpo_beta trl dpo_loss_type dpo_loss_weights dpo_label_smoothing rpo_alpha orpo_alpha "
         "simpo_gamma "
         "cpo_alpha kto_desirable_weight kto_undesirable_weight"},
        {Fate::Unsupported, "weighs pairs by how likely their answers are (WPO), which is not built",
         "leave it out", "rl", "dpo_use_weighting"},
        {Fate::Unsupported, "is gone from axolotl, and changed the loss", "leave it out", "rl",
         "dpo_norm_loss"},
        {Fate::Unsupported, "part of energy-based training, which is not built", "leave it out", "rl",
         "ebft"},
        {Fate::NoEffect, "the reference's log-probabilities are always computed once, before the first step",
         "", "rl", "precompute_ref_log_probs rl_adapter_ref_model"},
        {Fate::NoEffect, "how a loss is computed, not what it is", "", "rl",
         "dpo_use_liger_kernel dpo_padding_free dpo_use_logits_to_keep"},
        {Fate::NoEffect, "axolotl passes it to no trainer: answers are cut to sequence_len", "", "rl",
         "max_prompt_len"},
        {Fate::NoEffect, "only for models that generate while they train", "", "rl",
         "dpo_generate_during_eval"},
        {Fate::NoEffect,
         "for a server that `axolotl vllm-serve` starts; trl.vllm_server_host names the one to ask", "", "rl",
         "vllm"},
        {Fate::Used, "", "", "", "reward_model"},
        {Fate::Used, "", "", "reward_model", "center_rewards_coefficient"},
        {Fate::Used, "", "", "", "process_reward_model"},
        {Fate::Used, "", "", "process_reward_model", "num_labels"},
        {Fate::Unsupported, "changes the loss", "leave it out: the loss is the mean over the valid labels",
         "", "use_eaft liger_use_token_scaling kd_trainer label_smoothing_factor diffusion"},
        {Fate::Unsupported, "part of use_eaft", "", "use_eaft", "eaft_alpha eaft_k"},
        {Fate::Unsupported, "part of distillation (kd_trainer)", "", "kd_trainer",
         "kd_ce_alpha kd_alpha kd_temperature kd_beta kd_normalize_topk kd_online_server_base_url "
         "kd_online_topk kd_online_server kd_online_timeout kd_temperature_min kd_temperature_max "
         "kd_top_k_before_softmax "
         "kd_zscore_base_temp"},
        {Fate::Unsupported, "replaces the training loop", "leave it out", "",
         "trainer_cls hatchery nemo_gym_enabled llmcompressor dense_mixer"},
        {Fate::NoEffect, "only means something with nemo_gym_enabled", "", "",
         "nemo_gym_dir nemo_gym_auto_clone nemo_gym_config_paths nemo_gym_head_port "
         "nemo_gym_server_timeout nemo_gym_verify_timeout nemo_gym_run_timeout nemo_gym_datasets "
         "nemo_gym_auto_start nemo_gym_model_name nemo_gym_multi_turn nemo_gym_max_turns"},
        {Fate::Unsupported, "loads code that may change what is trained",
         "plugins that only compute the same numbers faster (Liger, Cut Cross Entropy, kernels) or report "
         "can be left in",
         "", "plugins"},
        {Fate::NoEffect, "only its plugin reads it, and plugins are judged by themselves", "", "",
         "grokfast_alpha grokfast_lamb lm_eval_tasks lm_eval_batch_size lm_eval_post_train "
         "lm_eval_model"},
    };
}

std::vector<KeyGroup> optimizer_keys() {
    return {
        {Fate::Unsupported, "changes the learning rate's schedule",
         "leave it out, or lr_scheduler: cosine_with_restarts with lr_scheduler_kwargs", "",
         "jagged_restart_steps"},
        {Fate::NoEffect, "part of jagged_restart_steps", "", "jagged_restart_steps",
         "jagged_restart_warmup_steps jagged_restart_anneal_steps"},
        {Fate::NoEffect, "only optimizers that are not built read it", "", "",
         "optim_target_modules torchdistx_path dion_lr dion_momentum "
         "dion_rank_fraction dion_rank_multiple_of qgalore_rank qgalore_update_proj_gap qgalore_scale "
         "qgalore_proj_type qgalore_proj_quant qgalore_proj_bits qgalore_proj_group_size "
         "qgalore_cos_threshold qgalore_gamma_proj qgalore_queue_size"},
        {Fate::NoEffect, "only the one_cycle schedule reads it", "", "",
         "lr_div_factor log_sweep_min_lr log_sweep_max_lr eta_min"},
        {Fate::Unsupported, "would change the batch as training goes", "set micro_batch_size so that it fits",
         "", "auto_find_batch_size"},
        {Fate::Unsupported, "starts from another run's weights and optimizer",
         "resume that run instead, or name the folder as base_model", "", "resume_from_checkpoint"},
        {Fate::NoEffect, "a run is continued with `ringmaster resume RUN`", "", "",
         "auto_resume_from_checkpoints"},
    };
}

std::vector<KeyGroup> data_keys() {
    return {
        {Fate::Unsupported, "joins samples with padding that later tokens attend to in axolotl",
         "use sample_packing: true", "", "pretraining_sample_concatenation"},
        {Fate::Unsupported, "lets packed documents see each other", "leave it out", "",
         "pretrain_multipack_attn"},
        {Fate::Unsupported, "drops an epoch's last rows; here they are a smaller step of their own",
         "leave it out", "", "dataloader_drop_last"},
        {Fate::Unsupported, "splits a batch over the ranks: other rows a step", "leave it out", "",
         "accelerator_config"},
        {Fate::Unsupported, "PoSE skips positions to train a longer context",
         "leave it out: the sequence is split", "", "use_pose"},
        {Fate::Unsupported, "part of use_pose", "", "use_pose",
         "pose_split_on_token_ids pose_max_context_len pose_num_chunks"},
        {Fate::Unsupported, "gives evaluation another length than training", "evaluation uses sequence_len",
         "", "eval_sequence_len"},
        {Fate::Unsupported, "is gone from axolotl, and would change how rows are packed",
         "use sequence_len with sample_packing: true", "", "max_packed_sequence_len"},
        {Fate::NoEffect, "how documents are packed is the sampler's own, by seed or next-fit in file order",
         "", "",
         "sample_packing_group_size sample_packing_bin_size sample_packing_sequentially "
         "sample_pack_sequentially sample_packing_mp_start_method sample_packing_eff_est "
         "sample_packing_seq_len_multiplier "
         "eval_sample_packing"},
        {Fate::NoEffect, "rows are tokenized before the run, whenever axolotl would", "", "",
         "skip_prepare_dataset"},
        {Fate::Used, "", "", "neftune_noise_alpha", "pad_to_multiple_of"},
        {Fate::NoEffect, "padding is no label and is not counted", "", "", "collator_pad_to_longest"},
        {Fate::NoEffect, "how rows are read and kept does not change them", "", "",
         "dataset_processes dataset_num_proc dataset_keep_in_memory num_dataset_shards_to_save "
         "dataloader_pin_memory dataloader_num_workers dataloader_prefetch_factor "
         "remove_unused_columns hf_use_auth_token is_preprocess preprocess_iterable total_num_tokens "
         "total_supervised_tokens axolotl_config_path capabilities env_capabilities"},
    };
}

std::vector<KeyGroup> report_keys() {
    return {
        {Fate::Used, "", "", "",
         "use_wandb wandb_name wandb_run_id wandb_mode wandb_project wandb_entity use_mlflow "
         "mlflow_tracking_uri mlflow_experiment_name mlflow_run_name use_comet comet_workspace "
         "comet_project_name comet_experiment_key comet_mode comet_online use_trackio "
         "trackio_project_name trackio_run_name trackio_space_id use_tensorboard"},
        {Fate::NoEffect, "a tracker is sent the numbers of each step, and nothing else", "", "",
         "wandb_watch wandb_log_model hf_mlflow_log_artifacts comet_experiment_config"},
        {Fate::NoEffect, "a key is given to the tracker's client on this machine, and to no node", "", "",
         "comet_api_key"},
        {Fate::NoEffect,
         "events are written into the run directory; `ringmaster export` carries them elsewhere", "", "",
         "use_otel_metrics otel_metrics_host "
         "otel_metrics_port use_swanlab swanlab_project swanlab_experiment_name swanlab_description "
         "swanlab_mode swanlab_workspace swanlab_api_key swanlab_log_model swanlab_web_host "
         "swanlab_api_host swanlab_lark_webhook_url swanlab_lark_secret swanlab_log_completions "
         "swanlab_completion_log_interval swanlab_completion_max_buffer profiler_steps "
         "profiler_steps_start include_tokens_per_second include_tkps debug"},
        {Fate::NoEffect, "nothing is pushed to the hub: output_dir holds the result", "", "",
         "hub_model_id push_to_hub_model_id hub_strategy hub_revision push_dataset_to_hub"},
        {Fate::NoEffect, "the only evaluation is the loss", "", "",
         "do_causal_lm_eval eval_causal_lm_metrics do_bench_eval bench_dataset bench_split "
         "bench_source_max_len eval_table_size eval_table_max_new_tokens eval_max_new_tokens "
         "generate_samples "
         "num_generation_samples generation_max_new_tokens generation_temperature generation_top_p "
         "generation_top_k generation_prompt_ratio generation_do_sample"},
        {Fate::NoEffect, "the engine keeps its own memory tidy", "", "",
         "gc_steps torch_empty_cache_steps gc_collect_steps"},
        {Fate::NoEffect,
         "a checkpoint always holds all that resuming needs, and is made when a key, a signal or the "
         "file axolotl_checkpoint.save asks for it",
         "", "", "save_only_model save_first_step dynamic_checkpoint"},
        {Fate::Unsupported, "weights are written as safetensors only", "leave it out", "",
         "save_safetensors"},
        {Fate::NoEffect, "for trying the model out, after training", "", "",
         "gradio_title gradio_share gradio_server_name gradio_server_port gradio_max_new_tokens "
         "gradio_temperature"},
    };
}

bool is_integer_above(const json& value, int64_t most) {
    return value.is_number() ? value.get<double>() > static_cast<double>(most) : is_on(value);
}

/// Lists plugins, by the names used in files, that compute the same numbers faster. The plugin for expert
/// parallelism has no effect by itself, because only expert_parallel_size switches expert parallelism on.
constexpr std::array<std::string_view, 4> kArithmeticPlugins{
    "axolotl.integrations.liger.", "axolotl.integrations.cut_cross_entropy.", "axolotl.integrations.kernels.",
    "axolotl.integrations.expert_parallel."};

/// Lists plugins that only report or evaluate, and so have no effect on training.
constexpr std::array<std::string_view, 2> kReportingPlugins{"axolotl.integrations.swanlab.",
                                                            "axolotl.integrations.lm_eval."};

std::string first_foreign_plugin(const json& plugins) {
    for (const json& plugin : plugins.is_array() ? plugins : json::array({plugins})) {
        if (plugin.is_null()) continue;
        const std::string name = plugin.is_string() ? plugin.get<std::string>() : plugin.dump();
        const auto names_it = [&](std::string_view known) { return name.starts_with(known); };
        if (std::none_of(kArithmeticPlugins.begin(), kArithmeticPlugins.end(), names_it) &&
            std::none_of(kReportingPlugins.begin(), kReportingPlugins.end(), names_it)) {
            return name;
        }
    }
    return {};
}

/// Returns whether the value equals that of another key.
bool repeats(const Document& document, const json& value, std::string_view other) {
    const json* same = document.find(other);
    return same && *same == value;
}

/// Returns true if `value` looks like the class of the model that is trained, so that the key changes
/// nothing: config.json and reward_model decide the class. It is a reward model's class if the file asks for
/// a reward model, otherwise a text model's or an image model's. The engine trains only the text part of an
/// image model.
bool names_the_model(const json& value, const Document& document) {
    if (!value.is_string()) return false;
    const auto& name = value.get_ref<const std::string&>();
    for (const auto& [key, kind] : {std::pair("reward_model", "ForSequenceClassification"),
                                    std::pair("process_reward_model", "ForTokenClassification")}) {
        const json* on = document.find(key);
        if (on && is_on(*on)) return name.ends_with(kind);
    }
    constexpr std::array<std::string_view, 3> kOfImages{"AutoModelForImageTextToText",
                                                        "AutoModelForVision2Seq", "AutoModelForMultimodalLM"};
    return name.ends_with("ForCausalLM") || name.ends_with("ForConditionalGeneration") ||
           std::find(kOfImages.begin(), kOfImages.end(), name) != kOfImages.end();
}

/// Returns true if `value` looks like the configuration of a text model, which the engine reads in any case.
bool names_a_text_config(const json& value) {
    return value.is_string() &&
           (value == "AutoConfig" || value.get_ref<const std::string&>().ends_with("TextConfig"));
}

/// Returns true if the file asks to dequantize MXFP4 or FP8 weights when they are read, as this engine always
/// does.
bool is_dequantized(const Document& document) {
    const json* format = document.find("model_quantization_config");
    const json* widen = document.find("model_quantization_config_kwargs.dequantize");
    return format && (*format == "Mxfp4Config" || *format == "FineGrainedFP8Config") && widen &&
           *widen == true;
}

bool trains_modules_whole(const Document& document) {
    const json* modules = document.find("lora_modules_to_save");
    return modules && is_on(*modules);
}

/// Returns true if axolotl passes no row to the processor. It collates packed rows as text, and only
/// chat_template passes rows to a processor (core/builders/causal.py, prompt_strategies).
bool packs_plain_text(const Document& document) {
    const json* packing = document.find("sample_packing");
    const json* method = document.find("rl");
    const json* datasets = document.find("datasets");
    if (!packing || *packing != true || (method && is_on(*method)) || !datasets || !datasets->is_array())
        return false;
    return std::all_of(datasets->begin(), datasets->end(), [](const json& entry) {
        const json type = entry.is_object() ? entry.value("type", json()) : json();
        return type.is_object() ||
               (type.is_string() && !type.get_ref<const std::string&>().starts_with("chat_template"));
    });
}

/// Returns whether the value switches the key on; for most keys, any non-empty value does.
bool switches_on(std::string_view key, const json& value, const Document& document) {
    if (key == "base_model_config" && repeats(document, value, "base_model")) return false;
    if (key == "eval_sequence_len" && repeats(document, value, "sequence_len")) return false;
    if (key == "tensor_parallel_size") return is_integer_above(value, 1);
    if (key == "pretrain_multipack_attn") {
        const json* packing = document.find("sample_packing");
        return value == false && packing && is_on(*packing) && document.find("pretraining_dataset");
    }
    if (key == "save_safetensors") return value.is_boolean() && !value.get<bool>();
    if (key == "cls_model_config") return is_on(value) && !names_a_text_config(value);
    if (key == "model_type" || key == "type_of_model")
        return is_on(value) && !names_the_model(value, document);
    if (key.starts_with("model_quantization_config")) return is_on(value) && !is_dequantized(document);
    if (key == "accelerator_config") return value.is_object() && is_on(value.value("split_batches", json()));
    if (key == "processor_type") return is_on(value) && !packs_plain_text(document);
    if (key == "plugins") return !first_foreign_plugin(value).empty();
    if (key == "peft_init_lora_weights") return is_on(value) && value != true;
    if (key == "peft_autocast_adapter_dtype") return value.is_boolean() && !value.get<bool>();
    if (key == "peft_ensure_weight_tying") return is_on(value) && trains_modules_whole(document);
    return is_on(value);
}

}  // namespace

const std::vector<KeyGroup>& key_groups() {
    static const std::vector<KeyGroup> groups = [] {
        std::vector<KeyGroup> all;
        for (const auto& part : {used_keys(), model_keys(), kernel_keys(), objective_keys(), optimizer_keys(),
                                 data_keys(), report_keys()}) {
            all.insert(all.end(), part.begin(), part.end());
        }
        return all;
    }();
    return groups;
}

std::optional<KeyFault> fault_of(const KeyRule& rule, const Document& document) {
    const json& value = document.values.at(std::string(rule.key));
    if (!switches_on(rule.key, value, document)) return std::nullopt;
    std::string shown =
        value.is_structured() ? "" : ": " + (value.is_string() ? value.get<std::string>() : value.dump());
    if (rule.key == "plugins") shown = ": " + first_foreign_plugin(value);
    return KeyFault{shown, std::string(rule.key) + shown + " is not supported: " + std::string(rule.why),
                    fixes_for(rule, document)};
}

}  // namespace ringmaster
