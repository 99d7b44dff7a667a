#include "launcher/ssh/target.h"

#include <charconv>
#include <string_view>

#include "engine/control_characters.h"
#include "engine/error.h"

namespace ringmaster {

namespace {

constexpr size_t kLongestName = 255;
constexpr std::string_view kForm =
    "a node is [user@]host[:port], for instance --node gpu1 or --node ann@10.0.0.7:2222";

/// Quotes text for a message, with '?' for control characters, which a terminal would obey.
std::string shown(const std::string& text) {
    const std::string clean = without_controls(text.substr(0, 80), '?');
    return "'" + clean + (text.size() > clean.size() ? "…'" : "'");
}

bool is_made_of(const std::string& text, std::string_view other_characters) {
    for (const char c : text) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!plain && other_characters.find(c) == std::string_view::npos) return false;
    }
    return !text.empty() && text.size() <= kLongestName && text[0] != '-';
}

int parse_port(const std::string& text, const std::string& whole) {
    int port = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (problem != std::errc() || end != text.data() + text.size() || port < 1 || port > 65535)
        throw Error(Failure::Usage, Code("NODE-NAME"), shown(text) + " is no port from 1 to 65535",
                    shown(whole), std::string(kForm));
    return port;
}

}  // namespace

std::string SshTarget::text() const {
    const bool is_ipv6 = host.find(':') != std::string::npos;
    return (user.empty() ? "" : user + "@") + (is_ipv6 && port ? "[" + host + "]" : host) +
           (port ? ":" + std::to_string(*port) : "");
}

void check_host_name(const std::string& host, const std::string& where) {
    if (!is_made_of(host, "._:%-"))
        throw Error(Failure::Usage, Code("NODE-NAME"), shown(host) + " is no name or address of a machine",
                    where, std::string(kForm));
}

void check_user_name(const std::string& user, const std::string& where) {
    if (!is_made_of(user, "._+@\\-") || user.back() == '\\')
        throw Error(Failure::Usage, Code("NODE-NAME"), shown(user) + " is no name of a user", where,
                    std::string(kForm));
}

SshTarget parse_target(const std::string& text) {
    SshTarget target;
    std::string rest = text;
    if (const size_t at = rest.rfind('@'); at != std::string::npos) {
        target.user = rest.substr(0, at);
        rest = rest.substr(at + 1);
        check_user_name(target.user, shown(text));
    }
    if (rest.starts_with('[')) {
        const size_t close = rest.find(']');
        if (close == std::string::npos || (close + 1 < rest.size() && rest[close + 1] != ':'))
            throw Error(Failure::Usage, Code("NODE-NAME"), "the bracket of " + shown(rest) + " is not closed",
                        shown(text), std::string(kForm));
        target.host = rest.substr(1, close - 1);
        if (close + 1 < rest.size()) target.port = parse_port(rest.substr(close + 2), text);
    } else if (const size_t colon = rest.find(':');
               colon != std::string::npos && rest.find(':', colon + 1) == std::string::npos) {
        target.host = rest.substr(0, colon);
        target.port = parse_port(rest.substr(colon + 1), text);
    } else {
        target.host = rest;
    }
    check_host_name(target.host, shown(text));
    return target;
}

}  // namespace ringmaster
