/// Describes what is wrong with a file's JSON, for messages.
#pragma once

#include <exception>
#include <nlohmann/json.hpp>
#include <string>

namespace ringmaster {

/// Returns why reading JSON failed, without the name of nlohmann's exception. Returns the message of any
/// other exception.
inline std::string json_problem(const std::exception& problem) {
    if (const auto* broken = dynamic_cast<const nlohmann::json::parse_error*>(&problem))
        return "no valid JSON from byte " + std::to_string(broken->byte) + " on";
    if (dynamic_cast<const nlohmann::json::type_error*>(&problem)) return "a value has the wrong type";
    const std::string what = problem.what();
    if (dynamic_cast<const nlohmann::json::exception*>(&problem) == nullptr) return what;
    const size_t end = what.find("] ");  // the exception's name stands in square brackets
    return end == std::string::npos ? what : what.substr(end + 2);
}

}  // namespace ringmaster
