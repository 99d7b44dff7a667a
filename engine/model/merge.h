/// An adapter put into the weights that it was trained beside: W + scale · B·A, as PEFT's merge_and_unload,
/// with quantised matrices dequantised, as `axolotl merge-lora` does it.
#pragma once

#include <string>

#include "engine/config/config.h"

namespace ringmaster {

/// Reads `config.model_dir` and the adapter in `config.lora.model_dir`; writes a whole Hugging Face folder at
/// `to`: weights in the base's own dtype (quantised ones in that of computation), config.json and the
/// tokenizer's files. One matrix is in memory at a time. Throws Error: a folder that is there, weights that
/// do not fit, a full disk.
void merge_adapter(const Config& config, const std::string& to);

/// For a command line: `config_file` holds a Config as config_to_json writes it. Exit status of contracts.md;
/// never throws.
int run_merge(const std::string& config_file, const std::string& to);

}  // namespace ringmaster
