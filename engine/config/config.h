/// Holds an axolotl YAML as typed values with axolotl's defaults. It holds what the user asked for; the Plan
/// (engine/plan/plan.h) holds what the planner derives from it for a given number of ranks.
///
/// Paths are absolute here (in the file and in --set they may be relative to the file's folder).
/// `config_to_json` and `config_from_json` convert every field, so that the engine needs only a plan.json.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/config/lora.h"
#include "engine/config/policy.h"
#include "engine/config/preference.h"
#include "engine/config/quantization.h"
#include "engine/config/sampling.h"

namespace ringmaster {

/// `bf16: true|auto` is Bf16Mixed (fp32 weights and optimizer states, bf16 compute), `bf16: full` or
/// `bfloat16: true` is Bf16Full. A file without these keys is Float32.
enum class Precision { Float32, Bf16Mixed, Bf16Full };

/// Says how keys and values are laid out and sent; `Default` follows axolotl (varlen_llama3 under packing,
/// else batch_ring).
enum class RingAttnFunc {
    Default,
    BatchRing,
    BatchZigzag,
    BatchStripe,
    VarlenLlama3,
    VarlenRing,
    VarlenZigzag,
    Balanced,
    Auto,
};

/// Lists the learning-rate schedules of transformers, and two of axolotl's.
enum class LrScheduler {
    Linear,
    Cosine,
    Constant,
    ConstantWithWarmup,
    CosineWithRestarts,
    Polynomial,
    InverseSqrt,
    CosineWithMinLr,
    CosineWarmupWithMinLr,
    WarmupStableDecay,
    Rex,
    OneCycle,
};

/// Says how a row longer than sequence_len is treated: dropped (axolotl's default), cut, or an error.
enum class ExcessLength { Drop, Truncate, Raise };

/// Holds `pad_to_sequence_len`, or accelerate's sp_seq_length.
struct Padding {
    bool to_sequence_len = false;
    std::optional<int64_t> fixed_length;  ///< sp_seq_length if sp_seq_length_is_variable is false
};

struct Config {
    std::string file;      ///< absolute path of the YAML file that was opened
    std::string base_dir;  ///< folder that relative paths start from

    // Model
    std::string base_model;  ///< a folder or a hub id, as written in the file
    std::string model_dir;   ///< absolute if base_model is an existing folder; else empty
    std::string tokenizer;   ///< tokenizer_config, else base_model; absolute if a folder
    bool reinit_weights = false;
    std::string attn_implementation;  ///< as written, or from flash_attention/sdp_attention; may be empty
    std::optional<bool> output_router_logits;    ///< adds the router's loss; replaces config.json's value
    std::optional<double> router_aux_loss_coef;  ///< replaces config.json's

    // Data
    nlohmann::json datasets = nlohmann::json::array();  ///< the file's entries; local paths made absolute
    nlohmann::json test_datasets = nlohmann::json::array();
    nlohmann::json special_tokens = nlohmann::json::object();
    /// Other keys that change tokens: chat_template, train_on_inputs, …
    nlohmann::json tokenization = nlohmann::json::object();
    std::string dataset_prepared_path;
    double val_set_size = 0;  ///< below 1: a fraction of the rows; else a number of rows
    int64_t sequence_len = 512;
    bool sample_packing = false;
    Padding padding;
    ExcessLength excess_length = ExcessLength::Drop;
    bool curriculum_sampling = false;  ///< reads the rows in the file's order
    int64_t seed = 42;

    // Batch and length of the run
    int64_t micro_batch_size = 1;
    int64_t gradient_accumulation_steps = 1;
    std::optional<int64_t> max_steps;  ///< takes precedence over num_epochs
    double num_epochs = 1;

    // Optimizer
    std::string optimizer = "adamw_torch";
    double learning_rate = 0;
    LrScheduler lr_scheduler = LrScheduler::Cosine;
    std::optional<int64_t> warmup_steps;  ///< takes precedence over warmup_ratio
    double warmup_ratio = 0;
    std::optional<double> cosine_min_lr_ratio;
    std::optional<double> cosine_constant_lr_ratio;
    bool lr_quadratic_warmup = false;
    nlohmann::json lr_scheduler_kwargs = nlohmann::json::object();  ///< arguments of the schedule
    double weight_decay = 0;                                        ///< not applied to norms and biases
    double adam_beta1 = 0.9;
    double adam_beta2 = 0.999;
    double adam_epsilon = 1e-8;
    std::optional<double> max_grad_norm = 1.0;  ///< null: gradients are not clipped
    /// More numbers and switches of the optimizer (optimizer_arguments.h). Values equal to the default are
    /// left out.
    nlohmann::json optim_args = nlohmann::json::object();
    std::optional<double> embedding_lr;
    std::optional<double> embedding_lr_scale;            ///< takes precedence over embedding_lr
    nlohmann::json lr_groups = nlohmann::json::array();  ///< {name, modules, lr}, as in the file
    std::optional<double> loraplus_lr_ratio;  ///< learning rate of the adapter's B divided by that of its A
    std::vector<std::string> unfrozen_parameters;    ///< patterns; empty: all parameters are trained
    std::optional<int64_t> early_stopping_patience;  ///< evaluations without a better loss that end a run
    std::optional<double> loss_watchdog_threshold;   ///< a step's loss counts as too high above this value
    int64_t loss_watchdog_patience = 3;              ///< number of such steps in a row that end the run
    bool load_best_model_at_end = false;
    bool group_by_length = false;

    Precision precision = Precision::Float32;
    bool gradient_checkpointing = false;
    bool selective_checkpointing = false;     ///< keeps attention's output and computes the rest again
    bool activation_offloading = false;       ///< keeps checkpoints in host memory
    bool tiled_mlp = false;                   ///< computes MLPs in tiles of tokens
    std::optional<int64_t> tiled_mlp_shards;  ///< tiles per rank; else tiles of hidden_size tokens
    int64_t sequence_chunks = 1;              ///< parts of a sequence computed in turn; 0: as few as fit
    Lora lora;                                ///< `adapter: lora` and qlora
    Quantization quantization;                ///< format of frozen weights under an adapter
    Preference preference;                    ///< `rl: dpo` and the like, and `reward_model`
    int64_t token_labels = 0;  ///< number of labels that a step may have under `process_reward_model`; 0: off
    std::optional<PolicyRule> policy;      ///< `rl: grpo`: how the run trains on rollouts
    std::optional<SamplingRule> sampling;  ///< set if the rows are prompts and the run samples their rollouts

    // Saving, evaluation, logging
    std::string output_dir;
    std::optional<double> save_steps;  ///< below 1: a fraction of all steps
    std::optional<double> saves_per_epoch;
    std::string save_strategy;  ///< "steps", "epoch", "no"; if not written, derived from other keys
    std::optional<int64_t> save_total_limit;  ///< checkpoints kept; 4 by default, as in axolotl
    std::optional<double> eval_steps;
    std::optional<double> evals_per_epoch;
    std::string eval_strategy;    ///< "steps", "epoch", "no"
    int64_t eval_batch_size = 0;  ///< 0: micro_batch_size
    /// Steps between lines of terminal and log text; events are written at every step. Below 1: a fraction of
    /// all steps; the plan replaces it by a number of steps if it knows how many there are.
    double logging_steps = 1;
    int64_t logs_every() const { return logging_steps > 1 ? static_cast<int64_t>(logging_steps) : 1; }

    // Parallel sizes; 0: not given
    int64_t context_parallel_size = 0;
    int64_t ulysses_size = 0;
    int64_t dp_shard_size = 0;
    int64_t dp_replicate_size = 0;
    int64_t expert_parallel_size = 0;
    int64_t heads_k_stride = 1;
    RingAttnFunc ring_attn_func = RingAttnFunc::Default;
    int zero_stage_asked = 0;           ///< stage that fsdp_config or deepspeed asks for; 0: none
    bool optimizer_offloading = false;  ///< keeps the optimizer's moments in host memory
    bool parameter_offloading = false;  ///< keeps weights in host memory and copies them one layer ahead
    std::string optimizer_disk;    ///< folder on the disk that holds the moments (offloading.h); empty: none
    std::optional<int64_t> ranks;  ///< accelerate's num_processes
    std::optional<int64_t> nodes;  ///< accelerate's num_machines
    std::optional<int64_t> ddp_timeout;  ///< timeout of a transfer in seconds, after the first step
    /// Made from an accelerate YAML alone, so it can be planned but not launched.
    bool accelerate_only = false;

    std::map<std::string, int> lines;  ///< dotted key -> 1-based line, for later diagnostics
};

const char* to_string(RingAttnFunc func);  ///< word in the YAML; "default" for Default
const char* to_string(LrScheduler scheduler);
const char* to_string(Precision precision);  ///< "fp32", "bf16", "bf16_full"
const char* to_string(ExcessLength strategy);

nlohmann::json config_to_json(const Config& config);
Config config_from_json(
    const nlohmann::json& json);  ///< throws Error(Refused) that names the missing or mistyped field

}  // namespace ringmaster
