/// The effective settings of a connection: those of ~/.ssh/config as OpenSSH itself understands it (`ssh -G`,
/// so Include and Match are its own), else libssh's reading of the same file.
#pragma once

#include <string>
#include <vector>

#include "launcher/ssh/host_key_verdict.h"
#include "launcher/ssh/target.h"

namespace ringmaster {

struct SshSettings {
    SshTarget target;       ///< as asked for
    std::string host_name;  ///< that is connected to
    std::string user;       ///< empty: this user
    int port = 22;
    std::string address_family;  ///< "any", "inet", "inet6"
    int connect_timeout_s = 10;
    std::vector<std::string> identity_files;  ///< absolute
    bool identities_only = false;
    std::string identity_agent;  ///< empty: SSH_AUTH_SOCK; "none"
    HostKeySettings host_keys;
    std::vector<SshTarget> jumps;  ///< ProxyJump, the first is reached from here
    std::string proxy_command;     ///< as the configuration has it
    bool uses_public_keys = true, uses_keyboard = true, uses_password = true;
    std::string ciphers, key_exchange, macs;  ///< where the configuration names them
    /// Directives of the configuration that have no effect here, each with its value.
    std::vector<std::string> ignored;
};

/// Asks `ssh -G` (of the file RINGMASTER_SSH_CONFIG where that is set). Throws NodeError where the
/// configuration is malformed, Error(Usage) where it names what is no machine.
SshSettings ssh_settings(const SshTarget& target);

/// What `ssh -G` printed, beside what it prints without any configuration, and what the files say behind
/// HostKeyAlgorithms. Throws as ssh_settings().
SshSettings parse_ssh_g(const SshTarget& target, const std::string& effective, const std::string& defaults,
                        const std::vector<std::string>& written_algorithms = {});

}  // namespace ringmaster
