#include "launcher/serve/access.h"

#include <sys/random.h>

#include <array>
#include <cstdint>

#include "engine/error.h"

namespace ringmaster {

namespace {

/// Compares two tokens in a time that does not depend on which characters differ.
bool same(std::string_view given, std::string_view token) {
    unsigned differ = given.size() == token.size() ? 0 : 1;
    for (size_t i = 0; i < token.size(); ++i)
        differ |= static_cast<unsigned char>(token[i]) ^
                  static_cast<unsigned char>(i < given.size() ? given[i] : '\0');
    return differ == 0;
}

}  // namespace

std::string make_token() {
    std::array<uint8_t, 16> bytes{};
    if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
        throw Error(Failure::Refused, Code("SERVE-TOKEN"), "the system gives no random bytes", "getrandom");
    std::string token;
    for (const uint8_t byte : bytes) {
        token += "0123456789abcdef"[byte >> 4];
        token += "0123456789abcdef"[byte & 15];
    }
    return token;
}

Access::Access(std::string token, std::string address, int port)
    : token_(std::move(token)), address_(std::move(address)), port_(port) {}

bool Access::is_our_host(std::string_view host) const {
    const std::string port = ":" + std::to_string(port_);
    if (!host.ends_with(port)) return false;
    host.remove_suffix(port.size());
    const bool is_loopback = address_ == "127.0.0.1" || address_ == "[::1]";
    return host == address_ || (is_loopback && host == "localhost");
}

Answer Access::judge(const Asked& asked) const {
    if (!is_our_host(asked.host)) return {403, {}};
    if (!asked.origin.empty() && asked.origin != "http://" + asked.host) return {403, {}};
    if (asked.method != "GET" && asked.method != "HEAD") return {405, {}};
    const std::string_view path = asked.path;
    if (!path.starts_with('/')) return {404, {}};
    const size_t slash = path.find('/', 1);
    const std::string_view given = path.substr(1, slash == path.npos ? path.npos : slash - 1);
    if (!same(given, token_) || slash == path.npos) return {404, {}};
    return {200, std::string(path.substr(slash))};
}

}  // namespace ringmaster
