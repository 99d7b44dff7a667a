/// One JSON object a line, cut into its members without building a tree: what makes reading millions of
/// events quick. Values stay text until somebody asks for them. Grammar as RFC 8259; whatever is not plain
/// (escapes, text beyond ASCII, nested values) is checked and decoded by nlohmann-json.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ringmaster {

/// Views into the line.
struct JsonMember {
    std::string_view key;    ///< without quotes
    std::string_view value;  ///< as written: 12, "text", null, [1,2]
};

/// False, with `members` in any state, where the line is not one whole JSON object.
bool split_object(std::string_view line, std::vector<JsonMember>& members);

/// Of a member's value; empty where it is of another kind or beyond what the type can hold.
std::optional<double> double_of(std::string_view value);
std::optional<int64_t> integer_of(std::string_view value);  ///< 12.0 counts
std::optional<std::string> text_of(std::string_view value);

}  // namespace ringmaster
