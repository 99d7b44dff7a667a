/// Declares what the parts of a session share; only for launcher/ssh.
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
        ssh_options_set(session, SSH_OPTIONS_FD, nullptr);  // otherwise libssh leaves the descriptor open
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
    std::unique_ptr<Jump> jump;  ///< must outlive the session that uses it
    SessionHandle handle;
    std::unique_ptr<ConnectionCanceller> canceller;
    std::function<bool()> given_up;  ///< called during reads and writes; empty: never given up

    ssh_session get() const { return handle.get(); }
    /// Returns libssh's error text without control characters, which a terminal would obey.
    std::string problem() const;
};

std::string key_blob(ssh_key key);  ///< SSH wire format; empty on an error

/// Logs in. Throws Error(Unreachable) with the methods that the server accepts and those tried.
void log_in(SshSession::Impl& session, const SshPerson& person);

/// Connects through another machine; a thread with that machine's session passes the bytes on.
std::unique_ptr<Jump> jump_through(const SshSettings& to, const SshPerson& person, int depth,
                                   OwnedSocket& ours);

std::unique_ptr<SshSession::Impl> open_session(const SshSettings& settings, const SshPerson& person,
                                               int depth);

}  // namespace ringmaster
