#include "launcher/ssh/known_hosts.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "engine/error.h"
#include "launcher/ssh/public_key.h"

namespace ringmaster {

namespace {

constexpr std::string_view kBlanks = " \t";
constexpr std::string_view kHashMark = "|1|";
constexpr size_t kSaltSize = 20;           ///< bytes, as many as SHA-1 gives
constexpr size_t kLongestPattern = 1023;   ///< OpenSSH never matches a list that contains a longer pattern
constexpr size_t kLongestSaltText = 1024;  ///< Base64 characters
constexpr int kDefaultPort = 22;

/// Removes the first word from `line` and returns it.
std::string_view take_word(std::string_view& line) {
    const std::string_view word = line.substr(0, line.find_first_of(kBlanks));
    line.remove_prefix(word.size());
    line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
    return word;
}

/// Matches greedily: only the last `*` is retried, so the time is at most the product of the lengths.
bool matches_pattern(std::string_view text, std::string_view pattern) {
    size_t at = 0, in = 0, star = std::string_view::npos, resumed = 0;
    while (at < text.size()) {
        if (in < pattern.size() && pattern[in] == '*') {
            star = in++;
            resumed = at;
        } else if (in < pattern.size() && (pattern[in] == '?' || pattern[in] == text[at])) {
            ++at;
            ++in;
        } else if (star != std::string_view::npos) {
            in = star + 1;
            at = ++resumed;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', in) == std::string_view::npos;
}

bool matches_list(const std::string& host, std::string_view names) {
    bool matches = false;
    while (!names.empty()) {
        const bool is_negated = names[0] == '!';
        if (is_negated) names.remove_prefix(1);
        const size_t end = std::min(names.find(','), names.size());
        if (end >= kLongestPattern) return false;
        if (matches_pattern(host, names.substr(0, end))) {
            if (is_negated) return false;
            matches = true;
        }
        names.remove_prefix(std::min(end + 1, names.size()));
    }
    return matches;
}

std::string hashed_with(const std::string& salt, const std::string& host) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    if (HMAC(EVP_sha1(), salt.data(), static_cast<int>(salt.size()),
             reinterpret_cast<const unsigned char*>(host.data()), host.size(), digest.data(),
             &size) == nullptr)
        throw Error(Failure::Unreachable, Code("NODE-UNREACHABLE"), "cannot compute an HMAC of SHA-1",
                    "known_hosts");
    return std::string(kHashMark) + encode_base64(salt) + "|" +
           encode_base64({reinterpret_cast<const char*>(digest.data()), size});
}

bool matches_hash(const std::string& host, std::string_view name) {
    if (!name.starts_with(kHashMark)) return false;
    const std::string_view rest = name.substr(kHashMark.size());
    const size_t end = rest.find('|');
    if (end == std::string_view::npos || end > kLongestSaltText) return false;
    const std::optional<std::string> salt = decode_base64(rest.substr(0, end));
    return salt && salt->size() == kSaltSize && hashed_with(*salt, host) == name;
}

/// Removes "@revoked" or "@cert-authority" from a line. nullopt for other markers and for two markers.
std::optional<HostKeyMark> take_mark(std::string_view& line) {
    if (!line.starts_with('@')) return HostKeyMark::None;
    const std::string_view word = take_word(line);
    if (line.starts_with('@')) return std::nullopt;
    if (word == "@revoked") return HostKeyMark::Revoked;
    if (word == "@cert-authority") return HostKeyMark::Authority;
    return std::nullopt;
}

std::optional<KnownHost> read_line(std::string_view line, const std::string& host) {
    line = line.substr(0, line.find('\0'));  // OpenSSH reads C strings, which end at a NUL
    line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
    if (line.empty() || line[0] == '#') return std::nullopt;
    const std::optional<HostKeyMark> mark = take_mark(line);
    if (!mark || !names_host(take_word(line), host)) return std::nullopt;
    KnownHost entry;
    entry.mark = *mark;
    entry.key = parse_key_text(line);
    if (!entry.key && *mark != HostKeyMark::Revoked) return std::nullopt;
    return entry;
}

}  // namespace

std::string known_hosts_name(const std::string& host, int port) {
    const std::string lower = lowered(host);
    return port == kDefaultPort ? lower : "[" + lower + "]:" + std::to_string(port);
}

bool names_host(std::string_view names, const std::string& host) {
    return names.starts_with('|') ? matches_hash(host, names) : matches_list(lowered(host), lowered(names));
}

std::vector<KnownHost> known_hosts_of(const std::string& host, const std::vector<KnownHostsText>& files) {
    std::vector<KnownHost> entries;
    for (const KnownHostsText& file : files) {
        std::string_view rest = file.text;
        for (size_t number = 1; !rest.empty(); ++number) {
            const std::string_view line = rest.substr(0, rest.find('\n'));
            rest.remove_prefix(std::min(line.size() + 1, rest.size()));
            std::optional<KnownHost> entry = read_line(line, host);
            if (!entry) continue;
            entry->where = file.path + ", line " + std::to_string(number);
            entry->file = file.path;
            entries.push_back(std::move(*entry));
        }
    }
    return entries;
}

std::string hashed_host_name(const std::string& host) {
    std::string salt(kSaltSize, '\0');
    if (RAND_bytes(reinterpret_cast<unsigned char*>(salt.data()), static_cast<int>(salt.size())) != 1)
        throw Error(Failure::Unreachable, Code("NODE-UNREACHABLE"), "the system gives no random bytes",
                    "known_hosts");
    return hashed_with(salt, lowered(host));
}

}  // namespace ringmaster
