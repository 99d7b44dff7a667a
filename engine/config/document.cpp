#include "engine/config/document.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace ringmaster {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxSetIndex = 10'000;

std::vector<std::string> split_path(std::string_view path) {
    std::vector<std::string> parts;
    for (std::size_t begin = 0; begin <= path.size();) {
        const std::size_t end = std::min(path.find('.', begin), path.size());
        parts.emplace_back(path.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

bool is_index(const std::string& part, std::size_t& index) {
    const auto [end, failure] = std::from_chars(part.data(), part.data() + part.size(), index);
    return failure == std::errc() && end == part.data() + part.size() && index <= kMaxSetIndex;
}

const json* child_of(const json& value, const std::string& part) {
    if (value.is_object()) {
        const auto found = value.find(part);
        return found == value.end() ? nullptr : &*found;
    }
    std::size_t index = 0;
    if (value.is_array() && is_index(part, index) && index < value.size()) return &value[index];
    return nullptr;
}

/// Returns the value that a --set path names, and creates a missing value. Returns nullptr and sets
/// `problem` if the path is invalid.
json* reach(json& root, const std::vector<std::string>& parts, std::string& problem) {
    json* place = &root;
    std::string walked;
    for (const std::string& part : parts) {
        std::size_t index = 0;
        if (place->is_null()) *place = is_index(part, index) ? json::array() : json::object();
        if (place->is_object()) {
            place = &(*place)[part];
        } else if (place->is_array() && is_index(part, index) && index <= place->size()) {
            if (index == place->size()) place->push_back(nullptr);
            place = &(*place)[index];
        } else if (place->is_array()) {
            problem = walked + " is a list of " + std::to_string(place->size()) + ", '" + part +
                      "' is no item of it and not the next one";
            return nullptr;
        } else {
            problem = walked + " is a single value and has no '" + part + "' in it";
            return nullptr;
        }
        walked += (walked.empty() ? "" : ".") + part;
    }
    return place;
}

void forget_lines_below(std::map<std::string, int>& lines, const std::string& path) {
    const std::string prefix = path + '.';
    for (auto it = lines.lower_bound(prefix); it != lines.end() && it->first.starts_with(prefix);)
        it = lines.erase(it);
}

}  // namespace

const json* Document::find(std::string_view path) const {
    const json* value = &values;
    for (const std::string& part : split_path(path)) {
        value = child_of(*value, part);
        if (!value) return nullptr;
    }
    return value->is_null() ? nullptr : value;
}

int Document::line(const std::string& path) const {
    for (std::string at = path;;) {
        if (const auto found = lines.find(at); found != lines.end()) return found->second;
        const std::size_t dot = at.rfind('.');
        if (dot == std::string::npos) return 0;
        at.resize(dot);
    }
}

std::vector<std::string> Document::top_level_keys() const {
    std::vector<std::string> keys;
    for (const auto& [key, value] : values.items()) {
        if (!foreign.contains(key)) keys.push_back(key);
    }
    const auto place = [&](const std::string& key) {
        const int at = line(key);
        return at > 0 ? at : std::numeric_limits<int>::max();
    };
    std::stable_sort(keys.begin(), keys.end(),
                     [&](const std::string& a, const std::string& b) { return place(a) < place(b); });
    return keys;
}

void set_path(Document& document, const std::string& asked_path, const std::string& text,
              Diagnostics& diagnostics) {
    const std::string path = printable(asked_path);
    const auto refuse = [&](const char* form, const std::string& problem = {}) {
        diagnostics.push_back(finding(Severity::Error, Form("CFG-SET", form), path, 0,
                                      {{"value", printable(text)}, {"problem", problem}}));
    };
    const std::vector<std::string> parts = split_path(path);
    if (std::any_of(parts.begin(), parts.end(), [](const std::string& part) { return part.empty(); })) {
        return refuse(path.empty() ? "no-key" : "empty-part");
    }
    json value;
    Diagnostics problems;
    if (!read_value(text, value, problems) || has_error(problems)) {
        return refuse("value", problems.empty() ? "" : problems.front().message);
    }
    std::string problem;
    json* place = reach(document.values, parts, problem);
    if (!place) return refuse("", problem);
    *place = std::move(value);
    forget_lines_below(document.lines, path);
    document.lines[path] = 0;
    document.foreign.erase(parts.front());
}

void put(Document& document, const std::string& key, const json& value, int line) {
    if (!document.values.contains(key)) document.foreign.insert(key);
    document.values[key] = value;
    forget_lines_below(document.lines, key);
    document.lines[key] = line;
}

void sort_by_line(Diagnostics& diagnostics) {
    const auto place = [](const Diagnostic& d) {
        return d.line > 0 ? d.line : std::numeric_limits<int>::max();
    };
    std::stable_sort(diagnostics.begin(), diagnostics.end(),
                     [&](const Diagnostic& a, const Diagnostic& b) { return place(a) < place(b); });
}

}  // namespace ringmaster
