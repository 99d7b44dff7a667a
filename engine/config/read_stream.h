/// Reads the keys that make the rows a stream, from which a run reads as many rows as max_steps needs:
/// `pretraining_dataset` (texts to pretrain on) and `streaming: true` (the rows of `datasets`).
#pragma once

#include <nlohmann/json.hpp>

#include "engine/config/config.h"
#include "engine/config/key_reader.h"

namespace ringmaster {

/// Returns `pretraining_dataset` as the only entry of `datasets`, marked `streamed` and `pretraining`.
/// axolotl reads only the first entry.
nlohmann::json read_stream(KeyReader& keys, Config& config);

/// Reports keys that cannot be combined with `pretraining_dataset`.
void check_stream(KeyReader& keys, const Config& config);

/// Marks the entries of `datasets` as `streamed` if `streaming` is true, and reports keys that axolotl
/// refuses together with `streaming`. Call after the datasets and the tokenization are read.
void stream_datasets(KeyReader& keys, Config& config);

}  // namespace ringmaster
