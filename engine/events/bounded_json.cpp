#include "engine/events/bounded_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "engine/json_problem.h"

namespace ringmaster {

namespace {

constexpr size_t kShownBytes = 200;

}  // namespace

std::string what_exceeds(std::string_view text, const JsonLimits& limits) {
    if (text.size() > limits.bytes) return "is longer than " + std::to_string(limits.bytes) + " bytes";
    int depth = 0;
    size_t values = 0;
    bool in_string = false;
    for (size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (in_string) {
            if (c == '\\') ++i;
            in_string = c != '"';
            continue;
        }
        if (c == '"') in_string = true;
        if (c == '{' || c == '[') ++depth, ++values;
        if (c == '}' || c == ']') --depth;
        if (c == ',') ++values;
        if (depth > limits.depth) return "is nested deeper than " + std::to_string(limits.depth) + " levels";
    }
    return values > limits.values ? "holds more than " + std::to_string(limits.values) + " values" : "";
}

nlohmann::json parse_bounded_json(std::string_view text, const std::string& where, const JsonLimits& limits) {
    if (const std::string excess = what_exceeds(text, limits); !excess.empty())
        throw Error(Failure::Refused, Code("FILE-DAMAGED"), excess, where);
    try {
        return nlohmann::json::parse(text);
    } catch (const nlohmann::json::exception& problem) {
        throw Error(Failure::Refused, Code("FILE-DAMAGED"),
                    "is damaged: " + json_problem(problem).substr(0, kShownBytes), where);
    }
}

nlohmann::json try_bounded_json(std::string_view text, const JsonLimits& limits) {
    if (!what_exceeds(text, limits).empty()) return nlohmann::json::value_t::discarded;
    return nlohmann::json::parse(text, nullptr, false);
}

}  // namespace ringmaster
