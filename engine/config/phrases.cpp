#include "engine/config/phrases.h"

#include <algorithm>
#include <optional>
#include <regex>
#include <string_view>
#include <vector>

namespace ringmaster {
namespace {

using Texts = std::vector<std::string_view>;

Texts cut_at_stars(std::string_view words) {
    Texts pieces;
    for (size_t star = words.find('*'); star != words.npos; star = words.find('*')) {
        pieces.push_back(words.substr(0, star));
        words.remove_prefix(star + 1);
    }
    pieces.push_back(words);
    return pieces;
}

/// Returns the text between the pieces, or nothing if the text does not consist of the pieces in their order.
std::optional<Texts> between(const Texts& pieces, std::string_view text) {
    if (!text.starts_with(pieces.front())) return std::nullopt;
    text.remove_prefix(pieces.front().size());
    Texts found;
    for (size_t i = 1; i < pieces.size(); ++i) {
        const bool is_last = i + 1 == pieces.size();
        const size_t at =
            is_last ? text.size() - std::min(text.size(), pieces[i].size()) : text.find(pieces[i]);
        if (at == text.npos || text.substr(at, pieces[i].size()) != pieces[i]) return std::nullopt;
        found.push_back(text.substr(0, at));
        text.remove_prefix(at + pieces[i].size());
    }
    return text.empty() ? std::optional(found) : std::nullopt;
}

/// Returns the value with the language's marks if it can only be a number: 131,072, 0.0123, 1e-05 or 3.2 GiB,
/// but not 2.36, which may be a version.
std::string with_decimal_mark(std::string_view value, char decimal) {
    static const std::regex number(
        R"(-?(\d{1,3}(,\d{3})+(\.\d+)?|\d+\.\d{3,}|\d+(\.\d+)?e[-+]?\d+|\d+\.\d+ ([KMGT]iB|ms|s|min|h|%)))");
    std::string text(value);
    if (decimal == '.' || !std::regex_match(text, number)) return text;
    for (char& mark : text) mark = mark == ',' ? '.' : mark == '.' ? decimal : mark;
    return text;
}

std::string joined(const Texts& pieces, const Texts& between, char decimal) {
    std::string text(pieces.front());
    for (size_t i = 1; i < pieces.size(); ++i) {
        const bool is_quoted = !text.empty() && std::string_view("'\"`=").find(text.back()) != text.npos;
        if (i <= between.size()) text += with_decimal_mark(between[i - 1], is_quoted ? '.' : decimal);
        text += pieces[i];
    }
    return text;
}

}  // namespace

std::string in_phrases(const Phrases& phrases, const std::string& text, char decimal) {
    if (const auto exact = phrases.find(text); exact != phrases.end()) return exact->second;
    std::string found = text;
    size_t longest = 0;  // the longest phrase that matches wins
    for (const auto& [english, words] : phrases) {
        const auto filling = between(cut_at_stars(english), text);
        if (!filling || english.size() <= longest) continue;
        longest = english.size();
        found = joined(cut_at_stars(words), *filling, decimal);
    }
    return found;
}

}  // namespace ringmaster
