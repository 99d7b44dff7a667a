/// Parses JSON from a file or machine that may be hostile. Counts its size, depth and values before it builds
/// a tree: otherwise a few bytes of text could take a lot of memory.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace ringmaster {

struct JsonLimits {
    size_t bytes = 4 << 20;
    int depth = 16;           ///< greatest nesting depth of objects and arrays
    size_t values = 1 << 18;  ///< most members and elements in total; each costs about 100 bytes
};

/// Returns an empty string if the text keeps within the limits, otherwise what exceeds them, such as "is
/// nested deeper than 16 levels". Does not check that the text is JSON.
std::string what_exceeds(std::string_view text, const JsonLimits& limits = {});

/// Returns the JSON tree. Throws Error(Refused) naming `where` if the text exceeds the limits or is not JSON.
nlohmann::json parse_bounded_json(std::string_view text, const std::string& where,
                                  const JsonLimits& limits = {});

/// Parses like parse_bounded_json, but returns a discarded value instead of throwing.
nlohmann::json try_bounded_json(std::string_view text, const JsonLimits& limits = {});

}  // namespace ringmaster
