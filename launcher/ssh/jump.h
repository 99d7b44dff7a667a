/// Connects to a machine through another one (ProxyJump).
#pragma once

#include <thread>

#include "launcher/ssh/session_impl.h"

namespace ringmaster {

class Jump {
  public:
    /// Opens a channel of `through` to the machine. From then on only the jump's thread uses that session.
    /// Throws Error(Unreachable).
    Jump(std::unique_ptr<SshSession::Impl> through, const SshSettings& to);
    Jump(const Jump&) = delete;
    Jump& operator=(const Jump&) = delete;
    ~Jump();

    OwnedSocket take_socket() { return std::move(ours_); }

  private:
    void pass_on();
    bool pass_in();
    bool pass_out();

    std::unique_ptr<SshSession::Impl> through_;
    ssh_channel channel_ = nullptr;
    OwnedSocket ours_, theirs_;
    std::thread thread_;
};

}  // namespace ringmaster
