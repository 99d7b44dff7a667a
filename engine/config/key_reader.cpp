#include "engine/config/key_reader.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>

#include "engine/config/keys.h"
#include "engine/words/spelling.h"

namespace ringmaster {
namespace {

using nlohmann::json;

constexpr double kWholeLimit = 9.2e18;
constexpr std::size_t kShownBytes = 60;

/// Returns the value as a number; accepts quoted text that reads as a number.
json as_number(const json& value) {
    if (value.is_number()) return value;
    if (!value.is_string()) return nullptr;
    const json read = scalar_value(value.get<std::string>());
    return read.is_number() ? read : json();
}

/// Adds parameters for hints: "optional" if the key can be left out, otherwise "usual" if some value is
/// common.
void name_default(const std::string& path, FindingValues& parameters) {
    static const std::map<std::string, std::string> usual = {
        {"learning_rate", "2e-5"}, {"lora_r", "16"}, {"lora_alpha", "32"}};
    if (const auto value = usual.find(path); value != usual.end()) {
        parameters["usual"] = value->second;
    } else if (path != "base_model" && path != "datasets" && !path.ends_with(".path")) {
        parameters["optional"] = path;
    }
}

/// Returns true if the size depends on the number of ranks: the nearest allowed value would seldom work, so
/// it is not suggested.
bool follows_from_ranks(const std::string& path) {
    return path == "dp_shard_size" || path == "dp_replicate_size" || path == "ulysses_size" ||
           path == "context_parallel_size" || path == "sequence_parallel_degree" ||
           path == "expert_parallel_size";
}

bool names_a_place(const std::string& path) {
    return path.ends_with("_dir") || path.ends_with("_path");
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
            --end;  // does not cut inside a UTF-8 character
        cut = text.substr(0, end) + "…";
    }
    return value.is_string() ? "'" + cut + "'" : cut;
}

std::string one_line_of(const json& value) {
    if (!value.is_string()) return value.dump(-1, ' ', false, json::error_handler_t::replace);
    const auto& text = value.get_ref<const std::string&>();
    const bool plain = !text.empty() && scalar_value(text).is_string() &&
                       std::all_of(text.begin(), text.end(), [](unsigned char c) {
                           return std::isalnum(c) || c == '_' || c == '-' || c == '.' || c == '/' || c == '+';
                       });
    const bool starts_plain = plain && (std::isalnum(static_cast<unsigned char>(text[0])) || text[0] == '.' ||
                                        text[0] == '/' || text[0] == '_');
    return starts_plain ? text : value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string listed(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
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

void KeyReader::missing(const Form& form, const std::string& path, const std::string& near,
                        FindingValues parameters, std::vector<Fix> fixes) {
    m_diagnostics.push_back(
        finding(Severity::Error, form, path, m_document.line(near), std::move(parameters), std::move(fixes)));
}

void KeyReader::say(Severity severity, const Form& form, const std::string& path, FindingValues parameters,
                    std::vector<Fix> fixes) {
    m_diagnostics.push_back(
        finding(severity, form, path, m_document.line(path), std::move(parameters), std::move(fixes)));
}

Fix KeyReader::renaming(const std::string& path, const std::string& name) const {
    const size_t dot = path.rfind('.');
    const std::string renamed = dot == path.npos ? name : path.substr(0, dot + 1) + name;
    const json* value = find(path);
    return {{{path, "", true}, {renamed, one_line_of(value ? *value : json())}}};
}

void KeyReader::refuse_type(const char* form, const std::string& path, const json& value,
                            FindingValues parameters) {
    parameters["value"] = shown(value);
    name_default(path, parameters);
    error(Form("CFG-TYPE", form), path, std::move(parameters));
}

std::optional<double> KeyReader::finite(const std::string& path, const char* form) {
    const json* value = find(path);
    if (!value) return std::nullopt;
    const json number = as_number(*value);
    if (number.is_null() || !std::isfinite(number.get<double>())) {
        refuse_type(form, path, *value);
        return std::nullopt;
    }
    return number.get<double>();
}

std::optional<double> KeyReader::number(const std::string& path, NumberRange range) {
    const auto value = finite(path, "number");
    if (!value) return std::nullopt;
    const bool too_low = *value < range.least || (range.open_below && *value == range.least);
    const bool too_high = *value > range.most || (range.open_above && *value == range.most);
    if (!too_low && !too_high) return value;
    const char* form =
        too_low ? (range.open_below ? "low" : "below") : (range.open_above ? "high" : "beyond");
    FindingValues parameters{
        {"value", shown(*value)}, {"least", shown(range.least)}, {"most", shown(range.most)}};
    if (!range.open_below) parameters["nearest"] = parameters[too_low ? "least" : "most"];
    if (too_high && range.open_above) parameters.erase("nearest");
    name_default(path, parameters);
    error(Form("CFG-RANGE", form), path, std::move(parameters));
    return std::nullopt;
}

std::optional<int64_t> KeyReader::whole(const std::string& path, WholeRange range) {
    const auto value = finite(path, "whole");
    if (!value) return std::nullopt;
    if (std::abs(*value) > kWholeLimit) {
        FindingValues parameters;
        name_default(path, parameters);
        error(Form("CFG-RANGE", "huge"), path, std::move(parameters));
        return std::nullopt;
    }
    if (*value != std::floor(*value)) {
        const double nearest = std::max(std::round(*value), static_cast<double>(range.least));
        FindingValues parameters;
        if (!follows_from_ranks(path) && nearest <= double(range.most))
            parameters["nearest"] = shown(nearest);
        refuse_type("whole", path, *find(path), std::move(parameters));
        return std::nullopt;
    }
    const json exact = as_number(*find(path));
    const int64_t whole = exact.is_number_integer() ? exact.get<int64_t>() : static_cast<int64_t>(*value);
    if (whole >= range.least && whole <= range.most) return whole;
    // Limits from this number on only prevent overflow, so messages do not suggest them.
    constexpr int64_t kBeyondUse = 65537;
    const int64_t nearest = std::clamp(whole, range.least, range.most);
    FindingValues parameters{{"value", std::to_string(whole)}, {"least", range.least}, {"most", range.most}};
    if (nearest < kBeyondUse && !follows_from_ranks(path)) parameters["nearest"] = nearest;
    name_default(path, parameters);
    error(Form("CFG-RANGE", whole < range.least ? "below" : "beyond"), path, std::move(parameters));
    return std::nullopt;
}

std::optional<bool> KeyReader::flag(const std::string& path) {
    const json* value = find(path);
    if (!value) return std::nullopt;
    const auto flag = as_flag(*value);
    if (!flag)
        refuse_type("flag", path, *value, *value == "" ? FindingValues{{"blank", path}} : FindingValues{});
    return flag;
}

std::optional<std::string> KeyReader::text(const std::string& path) {
    const json* value = find(path);
    if (!value) return std::nullopt;
    if (value->is_string()) return value->get<std::string>();
    if (value->is_structured()) {
        refuse_type("text-only", path, *value);
    } else {
        FindingValues quoted;
        if (names_a_place(path)) quoted["quoted"] = '"' + value->dump() + '"';
        refuse_type("text", path, *value, std::move(quoted));
    }
    return std::nullopt;
}

std::optional<std::string> KeyReader::word(const std::string& path, const std::vector<std::string>& words) {
    const json* value = find(path);
    if (!value) return std::nullopt;
    if (value->is_structured()) {
        refuse_type("word", path, *value, {{"known", listed(words)}});
        return std::nullopt;
    }
    const std::string said = value->is_string() ? value->get<std::string>()
                             : *value == false  ? "no"
                                                : value->dump();
    if (std::find(words.begin(), words.end(), said) != words.end()) return said;
    FindingValues parameters{{"value", shown(*value)}, {"known", listed(words)}, {"optional", path}};
    if (const std::string nearest = nearest_word(said, words); !nearest.empty())
        parameters["nearest"] = nearest;
    error(Form("CFG-VALUE", "word"), path, std::move(parameters));
    return std::nullopt;
}

}  // namespace ringmaster
