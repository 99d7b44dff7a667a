/// Reads a Config from a Document, section by section. Each function reads its keys, reports problems with
/// them, and keeps the defaults of config.h for keys that the file does not set.
#pragma once

#include "engine/config/config.h"
#include "engine/config/key_reader.h"

namespace ringmaster {

void read_model(KeyReader& keys, Config& config);

/// Returns axolotl's switches that attn_implementation replaced.
std::vector<std::string> attention_flags();

void read_preference(KeyReader& keys, Config& config);  ///< `rl` and its keys; call before read_data
void read_sampling(KeyReader& keys, Config& config, bool is_gdpo);  ///< call after read_policy
void settle_sampling(KeyReader& keys, Config& config);              ///< call after read_data
void read_data(KeyReader& keys, Config& config);
void read_datasets(KeyReader& keys, Config& config);
void read_batch(KeyReader& keys, Config& config);
void read_optimizer(KeyReader& keys, Config& config);
void read_schedule(KeyReader& keys, Config& config);  ///< call after learning_rate
void read_update(KeyReader& keys, Config& config);    ///< the optimizer and its arguments
/// Reads learning rates of some parameters; call after read_update.
void read_learning_rates(KeyReader& keys, Config& config);
void read_precision(KeyReader& keys, Config& config);
void read_lora(KeyReader& keys, Config& config);          ///< call after read_model
void read_quantization(KeyReader& keys, Config& config);  ///< call after read_precision and read_lora
void read_saving(KeyReader& keys, Config& config);
void read_evaluation(KeyReader& keys, Config& config);   ///< call after read_data
void read_run_control(KeyReader& keys, Config& config);  ///< call after read_saving and read_evaluation
void read_noise(KeyReader& keys, Config& config);        ///< call after read_update and read_data
/// Applies what `rl` changes in other sections; call after read_lora and read_run_control.
void settle_preference(KeyReader& keys, Config& config);
void read_parallel(KeyReader& keys, Config& config);
void read_sharding(KeyReader& keys, Config& config);
void read_checkpointing(KeyReader& keys, Config& config);  ///< call after read_sharding

/// Returns the ZeRO stage that an `fsdp_config` (axolotl's or accelerate's) asks for.
int fsdp_stage(const nlohmann::json& fsdp_config);

/// Returns zero_optimization.stage of a DeepSpeed configuration; nullopt, and sets `problem`, if it has none
/// that can be read.
std::optional<int> deepspeed_stage(const nlohmann::json& deepspeed, std::string& problem);
std::optional<int> deepspeed_file_stage(const std::string& path, std::string& problem);

/// Returns which states a DeepSpeed configuration that axolotl ships shards and offloads. `path` is the path
/// in the user's file. Returns nullopt if it does not name a shipped configuration, such as
/// deepspeed_configs/zero2.json, or just zero2.json.
std::optional<nlohmann::json> shipped_deepspeed(const std::string& path);

/// Returns the configuration that axolotl ships for the stage in a file's name, such as zero3_fullft.json;
/// empty if the name has none.
std::string shipped_deepspeed_like(const std::string& path);

/// Reports, for each tracker that the file switches on, what is sent to it.
void say_trackers(KeyReader& keys);

/// Checks rules over the whole configuration that need only the files. If only another engine has a
/// requirement, the finding is a warning that names that engine.
void check_rules(KeyReader& keys, const Config& config);

}  // namespace ringmaster
