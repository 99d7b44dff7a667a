#include "engine/plan/unfrozen.h"

#include <algorithm>
#include <optional>
#include <regex>

namespace ringmaster {

namespace {

using Range = std::pair<int64_t, std::optional<int64_t>>;

/// Escapes each dot that no plus follows, so that these dots match only dots.
std::string literal_dots(const std::string& pattern) {
    std::string made;
    for (size_t i = 0; i < pattern.size(); ++i) {
        const bool is_dot = pattern[i] == '.' && !(i + 1 < pattern.size() && pattern[i + 1] == '+');
        if (is_dot) made += '\\';
        made += pattern[i];
    }
    return made;
}

int64_t number_of(const std::string& digits, int64_t otherwise) {
    return digits.empty() || digits.size() > 15 ? otherwise : std::stoll(digits);
}

/// Removes a range from the end of a pattern, and returns it: [7], [2:], [:5] or [2:5].
std::optional<Range> take_range(std::string& pattern) {
    static const std::regex form(R"((.+)\[([0-9]*)(:([0-9]*))?\])");
    std::smatch parts;
    if (!std::regex_match(pattern, parts, form)) return std::nullopt;
    const std::string begin = parts[2], end = parts[4], base = parts[1];
    const bool is_index = !parts[3].matched;
    if (is_index && begin.empty()) return std::nullopt;
    pattern = base;
    if (is_index) return Range{number_of(begin, 0), number_of(begin, 0) + 1};
    return Range{number_of(begin, 0), end.empty() ? std::nullopt : std::optional(number_of(end, 0))};
}

bool matches(const std::string& name, const std::string& pattern) {
    const std::regex regex(literal_dots(pattern),
                           std::regex::ECMAScript | std::regex_constants::__polynomial);
    return std::regex_search(name, regex, std::regex_constants::match_continuous);
}

}  // namespace

Unfrozen unfrozen_of(const ParameterShape& shape, const std::vector<std::string>& patterns) {
    Unfrozen found;
    const int64_t rows = shape.shape.empty() ? 1 : shape.shape[0];
    std::vector<std::pair<int64_t, int64_t>> ranges;
    for (std::string pattern : patterns) {
        const std::optional<Range> range = take_range(pattern);
        if (!matches(shape.file_name(), pattern)) continue;
        found.trained = true;
        if (!range) continue;
        ranges.emplace_back(range->first, range->second.value_or(rows));
        if (ranges.back().first >= ranges.back().second || ranges.back().second > rows)
            found.problem = "rows " + std::to_string(ranges.back().first) + " to " +
                            std::to_string(ranges.back().second) + " of " + shape.file_name() +
                            ", which has " + std::to_string(rows);
    }
    if (ranges.empty() || !found.problem.empty()) return found;
    std::sort(ranges.begin(), ranges.end());
    int64_t next = 0;
    for (const auto& [begin, end] : ranges) {
        if (begin > next) found.frozen_rows.emplace_back(next, begin);
        next = std::max(next, end);
    }
    if (next < rows) found.frozen_rows.emplace_back(next, rows);
    return found;
}

}  // namespace ringmaster
