/// Finds and replaces control characters in text from files and hosts, because a terminal would interpret
/// them as commands.
#pragma once

#include <string>
#include <string_view>

namespace ringmaster {

constexpr bool is_control(char c) {
    return static_cast<unsigned char>(c) < ' ' || c == 0x7f;
}

constexpr bool has_controls(std::string_view text) {
    for (const char c : text) {
        if (is_control(c)) return true;
    }
    return false;
}

/// Returns `text` with `by` in place of each control character, apart from those in `kept`.
inline std::string without_controls(std::string text, char by = ' ', std::string_view kept = {}) {
    for (char& c : text) {
        if (is_control(c) && kept.find(c) == std::string_view::npos) c = by;
    }
    return text;
}

}  // namespace ringmaster
