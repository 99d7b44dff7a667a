/// Splits one JSON object per line into its members without building a tree, so that millions of events are
/// read quickly. Values stay text until a caller asks for them. The grammar is RFC 8259; nlohmann-json checks
/// and decodes everything that is not plain (escapes, text beyond ASCII, nested values).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ringmaster {

/// Holds one member; the views point into the line.
struct JsonMember {
    std::string_view key;    ///< without quotes
    std::string_view value;  ///< value as written: 12, "text", null, [1,2]
};

/// Returns false if the line is not exactly one JSON object; `members` is then unspecified.
bool split_object(std::string_view line, std::vector<JsonMember>& members);

/// Returns a member's value as a number; nothing if it is of another kind or out of the type's range.
std::optional<double> double_of(std::string_view value);
std::optional<int64_t> integer_of(std::string_view value);  ///< accepts 12.0
std::optional<std::string> text_of(std::string_view value);

}  // namespace ringmaster
