#include "engine/config/key_reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "engine/config/keys.h"

namespace ringmaster {
namespace {

using nlohmann::json;

constexpr double kWholeLimit = 9.2e18;
constexpr std::size_t kShownBytes = 60;

/// A number, or text (a quoted one) that reads as a number.
json as_number(const json& value) {
    if (value.is_number()) return value;
    if (!value.is_string()) return nullptr;
    const json read = scalar_value(value.get<std::string>());
    return read.is_number() ? read : json();
}

}  // namespace

std::string shown(double value) {
    std::array<char, 32> buffer{};
    const auto [end, failure] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
    return failure == std::errc() ? std::string(buffer.data(), end) : std::to_string(value);
}

std::string shown(const json& value) {
    if (value.is_number_float()) return shown(value.get<double>());
    if (value.is_array()) return "a list";
    if (value.is_object()) return "a mapping";
    const std::string text = value.is_string() ? value.get<std::string>()
                                               : value.dump(-1, ' ', false, json::error_handler_t::replace);
    std::string cut = text;
    if (text.size() > kShownBytes) {
        std::size_t end = kShownBytes;
        while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
            --end;  // not inside a character
        cut = text.substr(0, end) + "…";
    }
    return value.is_string() ? "'" + cut + "'" : cut;
}

std::string listed(const std::vector<std::string>& words) {
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) {
        text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
    }
    return text;
}

std::optional<bool> as_flag(const json& value) {
    if (value.is_boolean()) return value.get<bool>();
    if (value.is_string()) {
        const json read = scalar_value(value.get<std::string>());
        if (!read.is_string()) return as_flag(read);
    }
    if (value == 0) return false;
    if (value == 1) return true;
    return std::nullopt;
}

void KeyReader::say(Severity severity, const char* code, const std::string& path, const std::string& message,
                    const std::string& hint) {
    m_diagnostics.push_back({severity, code, path, m_document.line(path), message, hint});
}

void KeyReader::missing(const std::string& path, const std::string& near, const std::string& message,
                        const std::string& hint) {
    m_diagnostics.push_back({Severity::Error, "CFG-MISSING", path, m_document.line(near), message, hint});
}

void KeyReader::refuse_type(const std::string& path, const json& value, const std::string& wanted) {
    error("CFG-TYPE", path, path + " is " + shown(value) + ", it has to be " + wanted);
}

std::optional<double> KeyReader::finite(const std::string& path, const char* wanted) {
    const json* value = find(path);
    if (!value) return std::nullopt;
    const json number = as_number(*value);
    if (number.is_null() || !std::isfinite(number.get<double>())) {
        refuse_type(path, *value, wanted);
        return std::nullopt;
    }
    return number.get<double>();
}

std::optional<double> KeyReader::number(const std::string& path, NumberRange range) {
    const auto value = finite(path, "a number");
    if (!value) return std::nullopt;
    const bool below = *value < range.least || (range.open_below && *value == range.least);
    const bool above = *value > range.most || (range.open_above && *value == range.most);
    if (!below && !above) return value;
    std::string limits = std::string(range.open_below ? "above " : "at least ") + shown(range.least);
    if (range.most < std::numeric_limits<double>::max()) {
        limits += std::string(" and ") + (range.open_above ? "below " : "at most ") + shown(range.most);
    }
    error("CFG-RANGE", path, path + " is " + shown(*value) + ", it has to be " + limits);
    return std::nullopt;
}

std::optional<int64_t> KeyReader::whole(const std::string& path, WholeRange range) {
    const auto value = finite(path, "a whole number");
    if (!value) return std::nullopt;
    if (std::abs(*value) > kWholeLimit) {
        error("CFG-RANGE", path, path + " is beyond 64 bits");
        return std::nullopt;
    }
    if (*value != std::floor(*value)) {
        error("CFG-TYPE", path, path + " is " + shown(*value) + ", it has to be a whole number",
              path + ": " + shown(std::max(std::round(*value), static_cast<double>(range.least))));
        return std::nullopt;
    }
    const json exact = as_number(*find(path));
    const int64_t whole = exact.is_number_integer() ? exact.get<int64_t>() : static_cast<int64_t>(*value);
    if (whole >= range.least && whole <= range.most) return whole;
    std::string limits = "at least " + std::to_string(range.least);
    if (range.most < std::numeric_limits<int64_t>::max())
        limits += " and at most " + std::to_string(range.most);
    error("CFG-RANGE", path, path + " is " + std::to_string(whole) + ", it has to be " + limits,
          path + ": " + std::to_string(std::clamp(whole, range.least, range.most)));
    return std::nullopt;
}

std::optional<bool> KeyReader::flag(const std::string& path) {
    const json* value = find(path);
    if (!value) return std::nullopt;
    const auto flag = as_flag(*value);
    if (!flag) refuse_type(path, *value, "true or false");
    return flag;
}

std::optional<std::string> KeyReader::text(const std::string& path) {
    const json* value = find(path);
    if (!value) return std::nullopt;
    if (value->is_string()) return value->get<std::string>();
    refuse_type(path, *value, value->is_structured() ? "text" : "text: put it in quotes");
    return std::nullopt;
}

std::optional<std::string> KeyReader::word(const std::string& path, const std::vector<std::string>& words) {
    const json* value = find(path);
    if (!value) return std::nullopt;
    if (value->is_structured()) {
        refuse_type(path, *value, "one of " + listed(words));
        return std::nullopt;
    }
    const std::string said = value->is_string() ? value->get<std::string>()
                             : *value == false  ? "no"
                                                : value->dump();
    if (std::find(words.begin(), words.end(), said) != words.end()) return said;
    const std::string nearest = nearest_word(said, words);
    error("CFG-VALUE", path, path + " is " + shown(*value) + ", known are " + listed(words),
          nearest.empty() ? "" : path + ": " + nearest);
    return std::nullopt;
}

}  // namespace ringmaster
