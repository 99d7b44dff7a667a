#include "engine/events/flat_json.h"

#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

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

class Scanner {
  public:
    explicit Scanner(std::string_view line) : at_(line.data()), end_(line.data() + line.size()) {}

    bool object(std::vector<JsonMember>& members) {
        if (!take('{')) return false;
        if (take('}')) return ended();
        do {
            JsonMember member;
            skip_space();
            if (!string(member.key) || !take(':') || !value(member.value)) return false;
            member.key = member.key.substr(1, member.key.size() - 2);
            members.push_back(member);
        } while (take(','));
        return take('}') && ended();
    }

  private:
    void skip_space() {
        while (at_ != end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\r' || *at_ == '\n')) ++at_;
    }
    bool take(char wanted) {
        skip_space();
        if (at_ == end_ || *at_ != wanted) return false;
        ++at_;
        return true;
    }
    bool ended() {
        skip_space();
        return at_ == end_;
    }

    /// Reads a string; the token includes the quotes.
    bool string(std::string_view& token) {
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

    bool nested(std::string_view& token) {
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

    bool value(std::string_view& token) {
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

    const char* at_;
    const char* end_;
};

}  // namespace

bool split_object(std::string_view line, std::vector<JsonMember>& members) {
    members.clear();
    return Scanner(line).object(members);
}

std::optional<double> double_of(std::string_view value) {
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
