/// Parses a machine's name as a user types it: `[user@]host[:port]`.
#pragma once

#include <optional>
#include <string>

namespace ringmaster {

struct SshTarget {
    std::string host;  ///< an alias of ~/.ssh/config, a name or an address
    std::string user;  ///< empty: taken from the configuration
    std::optional<int> port;

    std::string text() const;  ///< form that a user types
};

/// Parses a target; `[::1]:2222` is an IPv6 address with its port. Throws Error(Usage) for an invalid host or
/// user, so that a shell, ssh or a terminal cannot mistake the text for anything but a name.
SshTarget parse_target(const std::string& text);

/// Throws Error(Usage) with `where` for an invalid name.
void check_host_name(const std::string& host, const std::string& where);
void check_user_name(const std::string& user, const std::string& where);

}  // namespace ringmaster
