/// Reads one JSON object per line member by member, without building a tree, so that millions of events are
/// read quickly. Values stay text until a caller asks for them. The grammar is RFC 8259; nlohmann-json checks
/// and decodes everything that is not plain (escapes, text beyond ASCII, nested values).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ringmaster {

/// Holds one member; the views point into the line.
struct JsonMember {
    std::string_view key;    ///< without quotes
    std::string_view value;  ///< value as written: 12, "text", null, [1,2]
};

/// Reads an object's members in their order.
class JsonMembers {
  public:
    explicit JsonMembers(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

    /// Reads the next member. After the last one, or if the text is not JSON, returns false and leaves
    /// `member` unchanged.
    bool next(JsonMember& member);

    /// Reads the next member if it has this key and is written without spaces; otherwise returns false.
    bool next_if(std::string_view key, JsonMember& member);

    /// True after `next` has read the last member, if the text is exactly one JSON object.
    bool is_whole() const { return is_whole_; }

  private:
    void skip_space();
    bool take(char wanted);
    bool string(std::string_view& token);
    bool nested(std::string_view& token);
    bool value(std::string_view& token);

    const char* at_;
    const char* end_;
    bool began_ = false, is_over_ = false, is_whole_ = false;
};

/// Returns a member's value as a number; nothing if it is of another kind or out of the type's range.
std::optional<double> double_of(std::string_view value);
std::optional<int64_t> integer_of(std::string_view value);  ///< also accepts 12.0
std::optional<std::string> text_of(std::string_view value);

}  // namespace ringmaster
