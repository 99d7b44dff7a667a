/// Checks a session's host key: chooses the key type to ask the server for, and decides if the server's key
/// is good. The decision itself is in judge_host_key(); the code here reads the files and asks the user.
#pragma once

#include <string>
#include <vector>

#include "launcher/ssh/host_key_verdict.h"
#include "launcher/ssh/prompt.h"
#include "launcher/ssh/session_impl.h"

namespace ringmaster {

/// Collects, during its lifetime, the host key algorithms that a server offers to this thread. libssh reports
/// them only in its log.
class OfferedAlgorithms {
  public:
    OfferedAlgorithms();
    OfferedAlgorithms(const OfferedAlgorithms&) = delete;
    OfferedAlgorithms& operator=(const OfferedAlgorithms&) = delete;
    ~OfferedAlgorithms();

    /// Returns an empty list if libssh did not report them.
    const std::vector<std::string>& names() const { return names_; }

  private:
    static void hear(int level, const char* function, const char* line, void* self);

    int previous_level_;
    bool is_server_ = false;
    std::vector<std::string> names_;
};

class HostKeyCheck {
  public:
    /// Reads the files that the settings name. Throws NodeError for a file that cannot be read.
    explicit HostKeyCheck(const SshSettings& settings);

    /// Returns the host key algorithms for libssh's option HOSTKEYS. Throws NodeError if libssh can verify
    /// none of them.
    std::string algorithms() const;

    /// Throws NodeError unless the key is known or trusted. Adds a key to known_hosts if the user trusts it
    /// or StrictHostKeyChecking is accept-new. Returns false if algorithms() has changed and the caller must
    /// connect again.
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
