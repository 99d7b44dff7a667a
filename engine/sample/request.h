/// Reads the launcher's request to generate texts, which is JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "engine/sample/generate.h"
#include "engine/sample/token_texts.h"

namespace ringmaster {

struct GenerationRequest {
    std::vector<Prompt> prompts;
    Generation generation;
    TokenTexts texts;
};

/// Reads {"prompts": [[token ids], …], "texts": a file of TokenTexts or "", "stop_ids": [ids],
/// "max_new_tokens", "temperature", "top_k", "top_p", "seed", "at_once"}; all but the prompts may be missing.
/// Equal prompts get different random streams; a prompt's stream does not depend on other prompts.
GenerationRequest generation_request(const nlohmann::json& read);

}  // namespace ringmaster
