/// Which machine is meant: `[user@]host[:port]`, as a person types it.
#pragma once

#include <optional>
#include <string>

namespace ringmaster {

struct SshTarget {
    std::string host;  ///< an alias of ~/.ssh/config, a name or an address
    std::string user;  ///< empty: as the configuration says
    std::optional<int> port;

    std::string text() const;  ///< as it is typed
};

/// `[::1]:2222` is an address of IPv6 with its port. Throws Error(Usage) for what is no name of a machine or
/// user: nothing that a shell, ssh or a terminal would take for more than a name gets any further.
SshTarget parse_target(const std::string& text);

/// Throws Error(Usage) naming `where`.
void check_host_name(const std::string& host, const std::string& where);
void check_user_name(const std::string& user, const std::string& where);

}  // namespace ringmaster
