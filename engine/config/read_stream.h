/// `pretraining_dataset`: texts that are read as a stream, as far as max_steps asks for them.
#pragma once

#include <nlohmann/json.hpp>

#include "engine/config/config.h"
#include "engine/config/key_reader.h"

namespace ringmaster {

/// The stream as the one entry of `datasets`, marked `streamed`. axolotl reads the first entry alone.
nlohmann::json read_stream(KeyReader& keys, Config& config);

/// Complains about keys that a stream cannot go with.
void check_stream(KeyReader& keys, const Config& config);

}  // namespace ringmaster
