#include "launcher/ssh/socket.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "launcher/ssh/finding.h"

namespace ringmaster {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kLook(100);

/// Connects within the timeout. Returns 0 or an errno.
int connect_within(int fd, const sockaddr* address, socklen_t size, milliseconds timeout,
                   const std::function<bool()>& given_up) {
    if (::connect(fd, address, size) == 0) return 0;
    if (errno != EINPROGRESS) return errno;
    pollfd ready{fd, POLLOUT, 0};
    const auto end = Clock::now() + timeout;
    for (int came = 0; came == 0;) {
        if (given_up && given_up()) return ECANCELED;
        if (Clock::now() > end) return ETIMEDOUT;
        came = ::poll(&ready, 1, static_cast<int>(kLook.count()));
        if (came < 0) return errno;
    }
    int problem = 0;
    socklen_t length = sizeof problem;
    ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &problem, &length);
    return problem;
}

void keep_alive(int fd) {
    const int on = 1, idle_s = 5, interval_s = 5, count = 2, silence_ms = 1000 * kDeadPeer_s;
    ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
    ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof interval_s);
    ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
    ::setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &silence_ms, sizeof silence_ms);
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

[[noreturn]] void fail(const SshSettings& to, int problem) {
    const std::string port = std::to_string(to.port);
    const auto found = [&]() -> NodeFinding {
        switch (problem) {
            case ECONNREFUSED:
                return {"refused", {to.host_name, port}};
            case ETIMEDOUT:
                return {"no-answer", {to.host_name, port, std::to_string(to.connect_timeout_s)}};
            case ENETUNREACH:
            case EHOSTUNREACH:
                return {"no-route", {to.host_name, port, std::strerror(problem)}};
            case ECANCELED:
                return {"given-up", {to.host_name, port}};
            default:
                return {"no-connection", {to.host_name, port, std::strerror(problem), to.target.text()}};
        }
    };
    throw NodeError(found(), to.target.text());
}

}  // namespace

OwnedSocket connect_to(const SshSettings& to, const std::function<bool()>& given_up) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_family = to.address_family == "inet"    ? AF_INET
                      : to.address_family == "inet6" ? AF_INET6
                                                     : AF_UNSPEC;
    addrinfo* found = nullptr;
    const int unknown = ::getaddrinfo(to.host_name.c_str(), std::to_string(to.port).c_str(), &hints, &found);
    if (unknown != 0) {
        throw NodeError({"unknown-host", {to.host_name, ::gai_strerror(unknown)}}, to.target.text());
    }
    int problem = EHOSTUNREACH;
    OwnedSocket connected;
    for (const addrinfo* at = found; at != nullptr && problem != 0 && problem != ECANCELED;
         at = at->ai_next) {
        OwnedSocket socket(::socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        problem = socket.get() < 0 ? errno
                                   : connect_within(socket.get(), at->ai_addr, at->ai_addrlen,
                                                    milliseconds(1000) * to.connect_timeout_s, given_up);
        if (problem == 0) connected = std::move(socket);
    }
    ::freeaddrinfo(found);
    if (problem != 0) fail(to, problem);
    keep_alive(connected.get());
    return connected;
}

ConnectionCanceller::ConnectionCanceller(int fd, std::function<bool()> given_up)
    : socket_(::fcntl(fd, F_DUPFD_CLOEXEC, 0)) {
    if (given_up) thread_ = std::thread([this, asked = std::move(given_up)] { watch(asked); });
}

ConnectionCanceller::~ConnectionCanceller() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

void ConnectionCanceller::watch(const std::function<bool()>& given_up) {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, kLook, [this] { return ending_; })) {
        if (!given_up()) continue;
        ::shutdown(socket_.get(), SHUT_RDWR);
        return;
    }
}

std::pair<OwnedSocket, OwnedSocket> socket_pair() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        throw Error(Failure::Unreachable, Code("NODE-UNREACHABLE"),
                    std::string("no socket for a jump host: ") + std::strerror(errno));
    return {OwnedSocket(ends[0]), OwnedSocket(ends[1])};
}

}  // namespace ringmaster
