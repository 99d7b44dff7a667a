#include "engine/families/config_text.h"

#include <array>
#include <string_view>

namespace ringmaster {

std::string with_finite_numbers(const std::string& text) {
    constexpr std::array<std::string_view, 3> kLiterals = {"NaN", "Infinity", "-Infinity"};
    const std::string_view all = text;
    std::string made;
    bool in_string = false;
    for (size_t i = 0; i < all.size(); ++i) {
        const bool escapes = in_string && all[i] == '\\' && i + 1 < all.size();
        if (all[i] == '"') in_string = !in_string;
        std::string_view literal;
        for (const std::string_view one : kLiterals)
            if (!in_string && all.substr(i).starts_with(one)) literal = one;
        if (literal.empty())
            made += all.substr(i, escapes ? 2 : 1);
        else
            made += "{\"__float__\": \"" + std::string(literal) + "\"}";
        i += literal.empty() ? (escapes ? 1 : 0) : literal.size() - 1;
    }
    return made;
}

}  // namespace ringmaster
