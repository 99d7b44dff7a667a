#include "engine/sample/request.h"

#include <map>
#include <nlohmann/json.hpp>

namespace ringmaster {

namespace {

std::vector<Prompt> prompts_of(const nlohmann::json& lists) {
    std::vector<Prompt> prompts;
    std::map<std::vector<int64_t>, int64_t> seen;
    for (const nlohmann::json& ids : lists) {
        Prompt prompt{ids.get<std::vector<int64_t>>()};
        prompt.stream = seen[prompt.ids]++;
        prompts.push_back(std::move(prompt));
    }
    return prompts;
}

}  // namespace

GenerationRequest generation_request(const nlohmann::json& read) {
    GenerationRequest request;
    request.prompts = prompts_of(read.at("prompts"));
    Generation& generation = request.generation;
    generation.choice = {read.value("temperature", 0.0), read.value("top_k", int64_t{0}),
                         read.value("top_p", 1.0), read.value("seed", int64_t{0})};
    generation.max_new_tokens = read.value("max_new_tokens", generation.max_new_tokens);
    generation.stop_ids = read.value("stop_ids", std::vector<int64_t>());
    generation.at_once = read.value("at_once", generation.at_once);
    if (const std::string texts = read.value("texts", ""); !texts.empty()) request.texts = TokenTexts(texts);
    return request;
}

}  // namespace ringmaster
