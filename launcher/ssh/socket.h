/// Opens TCP connections to machines, and reports the system's reason on failure.
#pragma once

#include <unistd.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "launcher/ssh/settings.h"

namespace ringmaster {

/// Holds a file descriptor and closes it in the destructor.
class OwnedSocket {
  public:
    explicit OwnedSocket(int fd = -1) : fd_(fd) {}
    OwnedSocket(OwnedSocket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    OwnedSocket& operator=(OwnedSocket&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~OwnedSocket() {
        if (fd_ >= 0) ::close(fd_);
    }
    int get() const { return fd_; }
    int release() { return std::exchange(fd_, -1); }

  private:
    int fd_;
};

/// Seconds of silence, or of waiting for bytes to be acknowledged, after which the connection ends.
constexpr int kDeadPeer_s = 15;

/// Tries every address of the name. Throws Error(Unreachable): unknown name, connection refused, timeout, no
/// route, or given up (`given_up` may be empty).
OwnedSocket connect_to(const SshSettings& settings, const std::function<bool()>& given_up = {});

/// Ends a connection once nobody waits for it any more, whatever operation is in progress.
class ConnectionCanceller {
  public:
    ConnectionCanceller(int fd, std::function<bool()> given_up);
    ConnectionCanceller(const ConnectionCanceller&) = delete;
    ConnectionCanceller& operator=(const ConnectionCanceller&) = delete;
    ~ConnectionCanceller();

  private:
    void watch(const std::function<bool()>& given_up);

    OwnedSocket socket_;  ///< duplicate of the descriptor, which stays valid after the original is closed
    std::mutex mutex_;
    std::condition_variable changed_;
    bool ending_ = false;
    std::thread thread_;
};

/// Returns the two ends of a local stream. Throws Error(Unreachable).
std::pair<OwnedSocket, OwnedSocket> socket_pair();

}  // namespace ringmaster
