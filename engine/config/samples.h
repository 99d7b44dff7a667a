/// Reads the prompts that a run continues while it trains: `sample_prompts` and its settings. These keys have
/// no effect on the training and are not part of Config.
#pragma once

#include <nlohmann/json.hpp>

#include "engine/config/key_reader.h"

namespace ringmaster {

/// Reports mistakes in these keys.
void check_samples(KeyReader& keys);

/// Returns {"asked": [texts, or lists of chat messages], "max_new_tokens", …} from the top-level values of a
/// file without mistakes; null if the file has no prompts.
nlohmann::json requested_samples(const nlohmann::json& values);

}  // namespace ringmaster
