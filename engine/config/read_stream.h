/// Reads `pretraining_dataset`: texts that are read as a stream, as far as max_steps needs them.
#pragma once

#include <nlohmann/json.hpp>

#include "engine/config/config.h"
#include "engine/config/key_reader.h"

namespace ringmaster {

/// Returns the stream as the only entry of `datasets`, marked `streamed`. axolotl reads only the first entry.
nlohmann::json read_stream(KeyReader& keys, Config& config);

/// Reports keys that cannot be combined with a stream.
void check_stream(KeyReader& keys, const Config& config);

}  // namespace ringmaster
