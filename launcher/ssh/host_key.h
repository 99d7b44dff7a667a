/// A session's host key: which key the server is asked for, and whether the one that it shows is good. The
/// decision itself is judge_host_key(); here are its files and the person.
#pragma once

#include <string>
#include <vector>

#include "launcher/ssh/host_key_verdict.h"
#include "launcher/ssh/prompt.h"
#include "launcher/ssh/session_impl.h"

namespace ringmaster {

/// Collects, while it lives, the host key algorithms that a server offers this thread: libssh tells its log
/// alone.
class OfferedAlgorithms {
  public:
    OfferedAlgorithms();
    OfferedAlgorithms(const OfferedAlgorithms&) = delete;
    OfferedAlgorithms& operator=(const OfferedAlgorithms&) = delete;
    ~OfferedAlgorithms();

    /// Empty: libssh did not tell.
    const std::vector<std::string>& names() const { return names_; }

  private:
    static void hear(int level, const char* function, const char* line, void* self);

    int previous_level_;
    bool is_server_ = false;
    std::vector<std::string> names_;
};

class HostKeyCheck {
  public:
    /// Reads the files that the settings name. Throws NodeError for one that cannot be read.
    explicit HostKeyCheck(const SshSettings& settings);

    /// What to set as libssh's HOSTKEYS. Throws NodeError if there is nothing that libssh could verify.
    std::string algorithms() const;

    /// False: connect again with algorithms(), which have changed. Throws NodeError unless the key is known
    /// or trusted; a key that the person trusts, or that StrictHostKeyChecking accept-new takes, is added to
    /// known_hosts.
    bool accept(SshSession::Impl& session, const std::vector<std::string>& offered, const SshPerson& person);

  private:
    [[noreturn]] void refuse(const HostKeyVerdict& verdict, const UnknownHostKey& shown) const;
    void accept_unknown(const HostKeyVerdict& verdict, const UnknownHostKey& shown, ssh_key key,
                        const SshPerson& person) const;

    SshSettings settings_;
    HostKeyFiles files_;
    std::vector<std::string> algorithms_;
    bool has_changed_ = false;
};

}  // namespace ringmaster
