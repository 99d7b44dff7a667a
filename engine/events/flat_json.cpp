#include "engine/events/flat_json.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

namespace ringmaster {

namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// Returns the end of the number that begins at `at`, or null if no number begins there.
const char* end_of_number(const char* at, const char* end) {
    auto digits = [&] {
        const char* first = at;
        while (at != end && is_digit(*at)) ++at;
        return at != first;
    };
    if (at != end && *at == '-') ++at;
    if (at != end && *at == '0') {
        ++at;
    } else if (!digits()) {
        return nullptr;
    }
    if (at != end && *at == '.' && (++at, !digits())) return nullptr;
    if (at != end && (*at == 'e' || *at == 'E')) {
        ++at;
        if (at != end && (*at == '+' || *at == '-')) ++at;
        if (!digits()) return nullptr;
    }
    return at;
}

/// True for the bytes that stand for themselves in a string of ASCII text.
constexpr std::array<bool, 256> kPlain = [] {
    std::array<bool, 256> plain{};
    for (size_t byte = 0x20; byte < 0x7f; ++byte) plain[byte] = byte != '"' && byte != '\\';
    return plain;
}();

bool is_plain(char byte) {
    return kPlain[static_cast<unsigned char>(byte)];
}

/// Returns the value of a decimal number without exponent and with at most 15 digits; nothing for other text.
/// The digits as an integer and the power of ten are exact, so the quotient is rounded correctly.
std::optional<double> short_decimal(std::string_view text) {
    constexpr size_t kDigits = 15;
    constexpr double kPowers[kDigits + 1] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                             1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    const bool is_negative = text.starts_with('-');
    text.remove_prefix(is_negative ? 1 : 0);
    if (text.empty() || text.size() > kDigits + 1) return std::nullopt;
    int64_t digits = 0;
    size_t decimals = 0, points = 0;
    for (const char c : text) {
        if (is_digit(c)) {
            digits = 10 * digits + (c - '0');
            decimals += points;
        } else if (c == '.') {
            ++points;
        } else {
            return std::nullopt;
        }
    }
    if (points > 1 || text.size() - points > kDigits) return std::nullopt;
    const double number = static_cast<double>(digits) / kPowers[decimals];
    return is_negative ? -number : number;
}

}  // namespace

void JsonMembers::skip_space() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\r' || *at_ == '\n')) ++at_;
}

bool JsonMembers::take(char wanted) {
    skip_space();
    if (at_ == end_ || *at_ != wanted) return false;
    ++at_;
    return true;
}

bool JsonMembers::next(JsonMember& member) {
    if (is_over_) return false;
    is_over_ = true;
    const bool is_first = !std::exchange(began_, true);
    if (is_first && !take('{')) return false;
    if (is_first ? take('}') : !take(',')) {
        const bool closed = is_first || take('}');
        skip_space();
        is_whole_ = closed && at_ == end_;
        return false;
    }
    JsonMember read;
    skip_space();
    if (!string(read.key) || !take(':') || !value(read.value)) return false;
    member = {read.key.substr(1, read.key.size() - 2), read.value};
    is_over_ = false;
    return true;
}

bool JsonMembers::next_if(std::string_view key, JsonMember& member) {
    const size_t length = key.size();
    const bool is_next = began_ && !is_over_ && static_cast<size_t>(end_ - at_) > length + 4 &&
                         at_[0] == ',' && at_[1] == '"' && std::memcmp(at_ + 2, key.data(), length) == 0 &&
                         at_[length + 2] == '"' && at_[length + 3] == ':';
    if (!is_next) return false;
    JsonMember read{{at_ + 2, length}, {}};
    at_ += length + 4;
    is_over_ = !value(read.value);
    if (!is_over_) member = read;
    return !is_over_;
}

/// Reads a string; the token includes the quotes.
bool JsonMembers::string(std::string_view& token) {
    const char* first = at_;
    if (at_ == end_ || *at_ != '"') return false;
    ++at_;
    while (at_ != end_ && is_plain(*at_)) ++at_;
    const bool plain = at_ != end_ && *at_ == '"';
    for (; at_ != end_ && *at_ != '"'; ++at_)
        if (*at_ == '\\' && ++at_ == end_) return false;
    if (at_ == end_) return false;
    token = {first, static_cast<size_t>(++at_ - first)};
    return plain || nlohmann::json::accept(token);
}

bool JsonMembers::nested(std::string_view& token) {
    const char* first = at_;
    int64_t depth = 0;
    do {
        if (at_ == end_) return false;
        std::string_view inner;
        if (*at_ == '"') {
            if (!string(inner)) return false;
            continue;
        }
        depth += (*at_ == '{' || *at_ == '[') - (*at_ == '}' || *at_ == ']');
        ++at_;
    } while (depth > 0);
    token = {first, static_cast<size_t>(at_ - first)};
    return nlohmann::json::accept(token);
}

bool JsonMembers::value(std::string_view& token) {
    skip_space();
    if (at_ == end_) return false;
    if (*at_ == '"') return string(token);
    if (*at_ == '{' || *at_ == '[') return nested(token);
    const char* first = at_;
    if (const char* end = end_of_number(first, end_)) {
        at_ = end;
    } else {
        while (at_ != end_ && *at_ >= 'a' && *at_ <= 'z') ++at_;
    }
    token = {first, static_cast<size_t>(at_ - first)};
    const bool ends =
        at_ == end_ || *at_ == ',' || *at_ == '}' || *at_ == ' ' || *at_ == '\t' || *at_ == '\r';
    return ends && (is_digit(token.empty() ? ' ' : token.back()) || token == "null" || token == "true" ||
                    token == "false");
}

std::optional<double> double_of(std::string_view value) {
    if (const std::optional<double> number = short_decimal(value)) return number;
    double number = 0;
    const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (problem != std::errc() || end != value.data() + value.size()) return std::nullopt;
    return number;
}

std::optional<int64_t> integer_of(std::string_view value) {
    int64_t number = 0;
    const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (problem == std::errc() && end == value.data() + value.size()) return number;
    constexpr double kLimit = 9223372036854775808.0;  // 2^63
    const std::optional<double> written = double_of(value);
    if (!written || std::trunc(*written) != *written || *written < -kLimit || *written >= kLimit)
        return std::nullopt;
    return static_cast<int64_t>(*written);
}

std::optional<std::string> text_of(std::string_view value) {
    if (value.size() < 2 || value.front() != '"') return std::nullopt;
    const std::string_view inside = value.substr(1, value.size() - 2);
    if (inside.find('\\') == std::string_view::npos) return std::string(inside);
    nlohmann::json decoded = nlohmann::json::parse(value, nullptr, false);
    if (!decoded.is_string()) return std::nullopt;
    return std::move(decoded.get_ref<std::string&>());
}

}  // namespace ringmaster
