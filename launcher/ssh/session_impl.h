/// What the parts of a session share; for this room only.
#pragma once

#include <libssh/libssh.h>

#include <functional>
#include <memory>
#include <string>

#include "launcher/ssh/finding.h"
#include "launcher/ssh/prompt.h"
#include "launcher/ssh/session.h"
#include "launcher/ssh/socket.h"

namespace ringmaster {

struct FreeSession {
    void operator()(ssh_session session) const {
        ssh_options_set(session, SSH_OPTIONS_FD, nullptr);  // a descriptor that it was given it would leave open
        ssh_disconnect(session);
        ssh_free(session);
    }
};
using SessionHandle = std::unique_ptr<ssh_session_struct, FreeSession>;

struct FreeKey {
    void operator()(ssh_key key) const { ssh_key_free(key); }
};
using KeyHandle = std::unique_ptr<ssh_key_struct, FreeKey>;

class Jump;

struct SshSession::Impl {
    SshSettings settings;
    std::unique_ptr<Jump> jump;  ///< outlives the session that goes through it
    SessionHandle handle;
    std::unique_ptr<Leash> leash;
    std::function<bool()> given_up;  ///< asked while a script is read and written; empty: never

    ssh_session get() const { return handle.get(); }
    /// libssh's own words, without what a terminal would obey.
    std::string problem() const;
};

std::string key_blob(ssh_key key);  ///< in SSH's wire format; empty on an error

/// Throws Error(Unreachable) naming the methods that the server takes and what was tried.
void log_in(SshSession::Impl& session, const SshPerson& person);

/// A connection through another machine: its session in a thread of its own, passing bytes on.
std::unique_ptr<Jump> jump_through(const SshSettings& to, const SshPerson& person, int depth,
                                   OwnedSocket& ours);

std::unique_ptr<SshSession::Impl> open_session(const SshSettings& settings, const SshPerson& person,
                                               int depth);

}  // namespace ringmaster
