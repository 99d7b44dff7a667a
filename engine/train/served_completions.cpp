#include "engine/train/served_completions.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/error.h"

namespace ringmaster {

namespace {

using nlohmann::json;

constexpr size_t kBytesOfToken = 60;  ///< bytes of an id and a log-probability in JSON, with commas
constexpr size_t kBytesOfAnswer = 1 << 16;
constexpr double kRounding = 1e-5;  ///< float32 log-probabilities may be this far above 0

[[noreturn]] void refuse(const std::string& what, size_t completion) {
    throw Error(Failure::Refused, Code("ROLLOUT-SERVER"),
                "completion " + std::to_string(completion + 1) + " " + what, "completions of the server");
}

Completion completion_in(const json& ids, size_t index, const ServedQuestion& question) {
    const Generation& generation = question.generation;
    if (!ids.is_array() || ids.empty() || static_cast<int64_t>(ids.size()) > generation.max_new_tokens)
        refuse("does not have 1 to " + std::to_string(generation.max_new_tokens) + " tokens", index);
    Completion completion;
    for (const json& id : ids) {
        const bool is_known = id.is_number_integer() && id >= 0 && id < question.vocabulary;
        if (!is_known) refuse("has a token that the model does not know", index);
        if (completion.stopped) refuse("goes on after a stop token", index);
        completion.ids.push_back(id.get<int64_t>());
        completion.stopped = std::find(generation.stop_ids.begin(), generation.stop_ids.end(),
                                       completion.ids.back()) != generation.stop_ids.end();
    }
    return completion;
}

void take_log_probabilities(const json& values, size_t index, Completion& completion) {
    if (!values.is_array() || values.size() != completion.ids.size())
        refuse("does not have a log-probability for each token", index);
    for (const json& value : values) {
        if (!value.is_number() || !std::isfinite(value.get<double>()) || value.get<double>() > kRounding)
            refuse("has a value that cannot be a log-probability", index);
        completion.log_probabilities.push_back(value.get<double>());
    }
}

}  // namespace

std::string line_of(const ServedQuestion& question) {
    const Generation& generation = question.generation;
    return json{{"sample",
                 {{"step", question.step},
                  {"weights", question.weights},
                  {"prompts", question.asks},
                  {"n", question.generations},
                  {"max_tokens", generation.max_new_tokens},
                  {"temperature", generation.choice.temperature},
                  {"top_k", generation.choice.top_k},
                  {"top_p", generation.choice.top_p},
                  {"seed", generation.choice.seed},
                  {"stop_ids", generation.stop_ids},
                  {"vocabulary", question.vocabulary},
                  {"log_probabilities", question.wants_log_probabilities}}}}
               .dump() +
           "\n";
}

size_t longest_answer(const ServedQuestion& question) {
    return kBytesOfAnswer + question.completions() *
                                static_cast<size_t>(question.generation.max_new_tokens + 1) * kBytesOfToken;
}

std::vector<Completion> completions_in(const std::string& line, const ServedQuestion& question) {
    const json answer = json::parse(line, nullptr, /*allow_exceptions=*/false);
    const json none, all = answer.is_object() ? answer.value("completions", none) : none;
    const json logs = answer.is_object() ? answer.value("log_probabilities", none) : none;
    const bool counts = all.is_array() && all.size() == question.completions() &&
                        (!question.wants_log_probabilities || (logs.is_array() && logs.size() == all.size()));
    if (!counts)
        throw Error(Failure::Refused, Code("ROLLOUT-SERVER"),
                    "the answer does not hold " + std::to_string(question.completions()) + " completions",
                    "completions of the server");
    std::vector<Completion> completions;
    for (size_t i = 0; i < all.size(); ++i) {
        completions.push_back(completion_in(all[i], i, question));
        if (question.wants_log_probabilities) take_log_probabilities(logs[i], i, completions.back());
    }
    return completions;
}

}  // namespace ringmaster
