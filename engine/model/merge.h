/// Merges an adapter into its base weights: W + scale · B·A, as in PEFT's merge_and_unload; dequantises
/// quantised matrices, as `axolotl merge-lora` does.
#pragma once

#include <string>

#include "engine/config/config.h"

namespace ringmaster {

/// Reads `config.model_dir` and the adapter in `config.lora.model_dir`; writes a complete Hugging Face folder
/// at `to`: weights in the base's dtype (quantised weights in the dtype of computation), config.json and the
/// tokenizer's files. Holds one matrix in memory at a time. Throws Error if the folder exists, if weights do
/// not fit, or if the disk is full.
void merge_adapter(const Config& config, const std::string& to);

/// Runs merge_adapter for a command line: `config_file` holds a Config written by config_to_json. Returns the
/// program's exit status; never throws.
int run_merge(const std::string& config_file, const std::string& to);

}  // namespace ringmaster
