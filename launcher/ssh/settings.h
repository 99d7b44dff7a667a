/// Reads the effective settings of a connection from ~/.ssh/config with `ssh -G`, so that OpenSSH itself
/// handles Include and Match. Without OpenSSH, uses only what the user typed and the usual files.
#pragma once

#include <string>
#include <vector>

#include "launcher/ssh/host_key_verdict.h"
#include "launcher/ssh/target.h"

namespace ringmaster {

struct SshSettings {
    SshTarget target;       ///< target as the user named it
    std::string host_name;  ///< host to connect to
    std::string user;       ///< empty: this process's user
    int port = 22;
    std::string address_family;  ///< "any", "inet", "inet6"
    int connect_timeout_s = 10;
    std::vector<std::string> identity_files;  ///< absolute paths
    bool identities_only = false;
    std::string identity_agent;  ///< path, or "none"; empty: SSH_AUTH_SOCK
    HostKeySettings host_keys;
    std::vector<SshTarget> jumps;  ///< ProxyJump, in the order in which they are passed
    std::string proxy_command;     ///< ProxyCommand of the configuration
    bool uses_public_keys = true, uses_keyboard = true, uses_password = true;
    std::string ciphers, key_exchange, macs;  ///< empty unless the configuration sets them
    /// Directives of the configuration that have no effect here, each with its value.
    std::vector<std::string> ignored;
};

/// Asks `ssh -G` (with the file of RINGMASTER_SSH_CONFIG if set). Throws NodeError if the configuration is
/// malformed, Error(Usage) if it names an invalid host.
SshSettings ssh_settings(const SshTarget& target);

/// Parses the output of `ssh -G`, its output without any configuration, and the values of HostKeyAlgorithms
/// in the configuration files. Throws like ssh_settings().
SshSettings parse_ssh_g(const SshTarget& target, const std::string& effective, const std::string& defaults,
                        const std::vector<std::string>& written_algorithms = {});

}  // namespace ringmaster
