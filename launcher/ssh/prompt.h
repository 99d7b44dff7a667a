/// Asks the user for input at a login, and for trust in a machine's key.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace ringmaster {

enum class PromptKind { Server, Password, Passphrase };

struct LoginPrompt {
    std::string host;          ///< name given by the user
    std::string text;          ///< text to show, which Ringmaster or the server wrote
    bool from_server = false;  ///< true if the server sent `text`, so that it must be marked as the server's
    bool echo = false;
    PromptKind kind = PromptKind::Server;
    /// User whose password is asked for, or file of the key whose passphrase is asked for
    std::string of = {};
};

/// Asks the user; nullopt if nobody can answer or they decline.
using AskPerson = std::function<std::optional<std::string>(const LoginPrompt&)>;

struct UnknownHostKey {
    std::string host;         ///< name given by the user
    std::string type;         ///< "ssh-ed25519"
    std::string fingerprint;  ///< "SHA256:…"
    std::string known_hosts;  ///< file that the key would be added to
};

struct SshPerson {
    AskPerson ask;                                             ///< empty: nobody can answer
    std::function<bool(const UnknownHostKey&)> trust_unknown;  ///< empty: never trust
    /// Returns true if nobody waits for the result any more. Work in progress then ends with an Error within
    /// a moment. Called from another thread during the whole session. Empty: never given up.
    std::function<bool()> given_up;
};

}  // namespace ringmaster
