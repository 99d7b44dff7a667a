/// A Config out of a Document, section by section. Each reads its keys, says what is wrong with them, and
/// leaves the defaults of config.h where the file is silent.
#pragma once

#include "engine/config/config.h"
#include "engine/config/key_reader.h"

namespace ringmaster {

void read_model(KeyReader& keys, Config& config);

/// axolotl's switches of before attn_implementation.
std::vector<std::string> attention_flags();

void read_data(KeyReader& keys, Config& config);
void read_datasets(KeyReader& keys, Config& config);
void read_batch(KeyReader& keys, Config& config);
void read_optimizer(KeyReader& keys, Config& config);
void read_schedule(KeyReader& keys, Config& config);  ///< after learning_rate
void read_update(KeyReader& keys, Config& config);    ///< the optimizer and what it takes
void read_learning_rates(KeyReader& keys, Config& config);  ///< rates of some parameters, after read_update
void read_precision(KeyReader& keys, Config& config);
void read_lora(KeyReader& keys, Config& config);          ///< after read_model
void read_quantization(KeyReader& keys, Config& config);  ///< after read_precision and read_lora
void read_saving(KeyReader& keys, Config& config);
void read_evaluation(KeyReader& keys, Config& config);  ///< after read_data
void read_run_control(KeyReader& keys, Config& config);  ///< after read_saving and read_evaluation
void read_parallel(KeyReader& keys, Config& config);
void read_sharding(KeyReader& keys, Config& config);
void read_checkpointing(KeyReader& keys, Config& config);  ///< behind read_sharding

/// ZeRO stage that an `fsdp_config` (axolotl's or accelerate's) asks for.
int fsdp_stage(const nlohmann::json& fsdp_config);

/// zero_optimization.stage of a DeepSpeed configuration; nullopt and `problem` where it has none that can be
/// read.
std::optional<int> deepspeed_stage(const nlohmann::json& deepspeed, std::string& problem);
std::optional<int> deepspeed_file_stage(const std::string& path, std::string& problem);

/// What a DeepSpeed configuration that axolotl ships says of states, if `path` names one
/// (deepspeed_configs/zero2.json).
std::optional<nlohmann::json> shipped_deepspeed(const std::string& path);

/// Says of each tracker that the file switches on what is sent to it.
void say_trackers(KeyReader& keys);

/// Rules over the whole configuration that the files alone decide; those that only another engine needs are
/// warnings that name it.
void check_rules(KeyReader& keys, const Config& config);

}  // namespace ringmaster
