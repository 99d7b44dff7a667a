/// Parses known_hosts (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT) line by line as OpenSSH's hostfile.c and match.c
/// do. The parsers are pure: they turn bytes into entries.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/ssh/public_key.h"

namespace ringmaster {

struct KnownHostsText {
    std::string path;  ///< shown in messages
    std::string text;
};

enum class HostKeyMark { None, Authority, Revoked };

/// A line of known_hosts that names the host.
struct KnownHost {
    HostKeyMark mark = HostKeyMark::None;
    std::optional<PublicKey> key;  ///< empty only if a line revokes a key that cannot be read
    std::string where;             ///< "/home/ann/.ssh/known_hosts, line 3"
    std::string file;              ///< path of the file that contains the line
};

/// Returns a machine's name as known_hosts writes it: "gpu1", "[gpu1]:2222".
std::string known_hosts_name(const std::string& host, int port);

/// Returns true if a line's `names` (patterns with `*`, `?` and `!`, or one hashed name) match `host`.
bool names_host(std::string_view names, const std::string& host);

/// Returns the lines of all files that name `host`, in order. Skips the lines that OpenSSH skips, except
/// those that revoke an unreadable key.
std::vector<KnownHost> known_hosts_of(const std::string& host, const std::vector<KnownHostsText>& files);

/// Returns `host` as HashKnownHosts writes it, with a new random salt.
std::string hashed_host_name(const std::string& host);

}  // namespace ringmaster
