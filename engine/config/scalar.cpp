#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string>
#include <string_view>

#include "engine/config/document.h"

namespace ringmaster {
namespace {

using nlohmann::json;

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), text) != words.end();
}

bool all_digits(std::string_view text) {
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

struct Number {
    bool negative = false;
    std::string digits;  ///< without sign and underscores
};

Number split_sign(std::string_view text) {
    Number number;
    if (text.starts_with('-') || text.starts_with('+')) {
        number.negative = text.front() == '-';
        text.remove_prefix(1);
    }
    number.digits = text;
    if (!text.starts_with('_')) std::erase(number.digits, '_');
    return number;
}

/// Returns a floating-point number for an integer beyond 64 bits, so that readers of integers reject the
/// value.
json float_value(const Number& number);

json integer_value(const Number& number, std::string_view digits, int base) {
    uint64_t magnitude = 0;
    const auto [end, failure] =
        std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, base);
    if (end != digits.data() + digits.size() || digits.empty()) return nullptr;
    if (failure != std::errc() || magnitude > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
        return base == 10 ? float_value(number) : json(number.negative ? -1e30 : 1e30);
    }
    const auto value = static_cast<int64_t>(magnitude);
    return number.negative ? -value : value;
}

/// Returns whether the text is digits [. digits] [e [sign] digits], with a digit before the exponent.
bool is_float(std::string_view text) {
    const std::size_t mantissa_end = std::min(text.find_first_of("eE"), text.size());
    const std::string_view mantissa = text.substr(0, mantissa_end);
    const std::size_t dot = mantissa.find('.');
    const std::string_view whole = mantissa.substr(0, dot);
    const std::string_view part =
        dot == std::string_view::npos ? std::string_view{} : mantissa.substr(dot + 1);
    if ((!whole.empty() && !all_digits(whole)) || (!part.empty() && !all_digits(part))) return false;
    if (whole.empty() && part.empty()) return false;
    if (mantissa_end == text.size()) return dot != std::string_view::npos;
    std::string_view exponent = text.substr(mantissa_end + 1);
    if (exponent.starts_with('-') || exponent.starts_with('+')) exponent.remove_prefix(1);
    return all_digits(exponent);
}

json float_value(const Number& number) {
    double value = 0;
    const char* begin = number.digits.data();
    const char* end = begin + number.digits.size();
    const auto [stop, failure] = std::from_chars(begin, end, value);
    if (failure == std::errc::result_out_of_range) {
        const bool tiny =
            number.digits.find("e-") != std::string::npos || number.digits.find("E-") != std::string::npos;
        value = tiny ? 0 : std::numeric_limits<double>::infinity();
    } else if (failure != std::errc() || stop != end) {
        return nullptr;
    }
    return number.negative ? -value : value;
}

json number_value(const std::string& text) {
    const Number number = split_sign(text);
    const std::string_view digits = number.digits;
    if (all_digits(digits)) {
        if (digits.size() > 1 && digits.front() == '0') return nullptr;
        return integer_value(number, digits, 10);
    }
    if (digits.starts_with("0x")) return integer_value(number, digits.substr(2), 16);
    if (digits.starts_with("0o")) return integer_value(number, digits.substr(2), 8);
    if (digits.starts_with("0b")) return integer_value(number, digits.substr(2), 2);
    if (is_float(digits)) return float_value(number);
    const double infinity = std::numeric_limits<double>::infinity();
    if (is_one_of(digits, {".inf", ".Inf", ".INF"})) return number.negative ? -infinity : infinity;
    if (is_one_of(text, {".nan", ".NaN", ".NAN"})) return std::numeric_limits<double>::quiet_NaN();
    return nullptr;
}

}  // namespace

json scalar_value(const std::string& text) {
    if (is_one_of(text, {"", "~", "null", "Null", "NULL"})) return nullptr;
    if (is_one_of(text, {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"})) return true;
    if (is_one_of(text, {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"})) return false;
    const json number = number_value(text);
    return number.is_null() ? json(text) : number;
}

}  // namespace ringmaster
