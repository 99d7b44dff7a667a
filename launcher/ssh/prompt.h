/// What a person is asked while logging in, and whether a machine's key is trusted.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace ringmaster {

enum class PromptKind { Server, Password, Passphrase };

struct Prompt {
    std::string host;          ///< as the person named it
    std::string text;          ///< for a prompt of the server: its own words
    bool from_server = false;  ///< text is the server's, and is to be shown as such
    bool echo = false;
    PromptKind kind = PromptKind::Server;
    std::string of = {};  ///< the user whose password, the key's file whose passphrase is asked for
};

/// Empty: nobody is there to answer, or they do not want to.
using AskPerson = std::function<std::optional<std::string>(const Prompt&)>;

struct UnknownHostKey {
    std::string host;         ///< as the person named it
    std::string type;         ///< "ssh-ed25519"
    std::string fingerprint;  ///< "SHA256:…"
    std::string known_hosts;  ///< where it would be added
};

struct SshPerson {
    AskPerson ask;                                             ///< empty: nobody
    std::function<bool(const UnknownHostKey&)> trust_unknown;  ///< empty: never
    /// Nobody waits any more: what is under way ends with an Error, within a moment. Asked from another
    /// thread, as long as the session lives. Empty: never.
    std::function<bool()> given_up;
};

}  // namespace ringmaster
