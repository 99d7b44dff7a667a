/// JSON from a file or machine that may mean harm. Its size, depth and number of values are counted before a
/// tree is built of it: a few bytes of text can otherwise become many of memory.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace ringmaster {

struct JsonLimits {
    size_t bytes = 4 << 20;
    int depth = 16;           ///< objects and arrays inside each other
    size_t values = 1 << 18;  ///< members and elements in all; each costs about 100 bytes
};

/// Empty where the text keeps within the limits, else what exceeds them: "is nested deeper than 16 levels".
/// Says nothing of whether the text is JSON.
std::string what_exceeds(std::string_view text, const JsonLimits& limits = {});

/// Throws Error(Refused) naming `where` for what exceeds the limits or is no JSON.
nlohmann::json parse_bounded_json(std::string_view text, const std::string& where,
                                  const JsonLimits& limits = {});

/// The same, a discarded value in place of an exception.
nlohmann::json try_bounded_json(std::string_view text, const JsonLimits& limits = {});

}  // namespace ringmaster
