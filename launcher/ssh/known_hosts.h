/// The format of known_hosts (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT), read line for line as OpenSSH's
/// hostfile.c and match.c do. Pure: bytes in, entries out.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/ssh/public_key.h"

namespace ringmaster {

struct KnownHostsText {
    std::string path;  ///< for messages
    std::string text;
};

enum class HostKeyMark { None, Authority, Revoked };

/// A line that names the host.
struct KnownHost {
    HostKeyMark mark = HostKeyMark::None;
    std::optional<PublicKey> key;  ///< empty only in a line that revokes a key which cannot be read
    std::string where;             ///< "/home/ann/.ssh/known_hosts, line 3"
};

/// The name that known_hosts has for a machine: "gpu1", "[gpu1]:2222".
std::string known_hosts_name(const std::string& host, int port);

/// Whether `names` of a line (patterns with `*`, `?` and `!`, or one hashed name) means `host`.
bool names_host(std::string_view names, const std::string& host);

/// The lines of all files that name `host`, in their order. Lines that OpenSSH skips are left out, except
/// those that revoke a key which cannot be read.
std::vector<KnownHost> known_hosts_of(const std::string& host, const std::vector<KnownHostsText>& files);

/// `host` as HashKnownHosts writes it, with a new random salt.
std::string hashed_host_name(const std::string& host);

}  // namespace ringmaster
