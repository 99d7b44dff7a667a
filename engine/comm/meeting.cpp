#include "engine/comm/meeting.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <utility>

#include "engine/auth/sha256.h"
#include "engine/comm/failure.h"
#include "engine/error.h"

namespace ringmaster {

namespace {

class Socket {
  public:
    explicit Socket(int fd) : fd_(fd) {}
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;
    ~Socket() {
        if (fd_ >= 0) close(fd_);
    }
    int fd() const { return fd_; }
    int release() { return std::exchange(fd_, -1); }

  private:
    int fd_;
};

struct Address {
    sockaddr_storage bytes{};
    socklen_t length = 0;

    int family() const { return bytes.ss_family; }
    const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&bytes); }
    sockaddr* get() { return reinterpret_cast<sockaddr*>(&bytes); }
};

bool is_loopback(const Address& address) {
    if (address.family() == AF_INET) {
        const auto* ipv4 = reinterpret_cast<const sockaddr_in*>(&address.bytes);
        return (ntohl(ipv4->sin_addr.s_addr) >> 24) == 127;
    }
    const auto* ipv6 = reinterpret_cast<const sockaddr_in6*>(&address.bytes);
    return IN6_IS_ADDR_LOOPBACK(&ipv6->sin6_addr) != 0;
}

std::string numbers(const Address& address) {
    char text[NI_MAXHOST] = {};
    getnameinfo(address.get(), address.length, text, sizeof text, nullptr, 0, NI_NUMERICHOST);
    return text;
}

std::string endpoint(const Rendezvous& at) {
    return at.master_addr + ":" + std::to_string(at.master_port);
}

/// Returns the addresses of rank 0's host in the order of preference, at least one.
std::vector<Address> resolve(const Rendezvous& at) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int error =
        getaddrinfo(at.master_addr.c_str(), std::to_string(at.master_port).c_str(), &hints, &found);
    if (error != 0) {
        throw Error(Failure::Unreachable, Code("RANKS-MEETING"),
                    "rank 0's host \"" + at.master_addr + "\" is not known here: " + gai_strerror(error), {},
                    "MASTER_ADDR must be a name or address that every node resolves");
    }
    std::vector<Address> addresses;
    for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
        Address& address = addresses.emplace_back();
        std::memcpy(&address.bytes, one->ai_addr, one->ai_addrlen);
        address.length = one->ai_addrlen;
    }
    freeaddrinfo(found);
    return addresses;
}

/// Returns a listening socket, or -1 and sets errno.
int listening_socket(const Address& address) {
    constexpr int kBacklog = 4096;
    const int yes = 1;
    Socket socket(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (socket.fd() < 0) return -1;
    setsockopt(socket.fd(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(socket.fd(), address.get(), address.length) != 0) return -1;
    if (listen(socket.fd(), kBacklog) != 0) return -1;
    return socket.release();
}

bool is_one_node(const Rendezvous& at) {
    return at.local_world_size >= at.world_size;
}

bool is_numbers(const std::string& address) {
    in6_addr ignored{};
    return inet_pton(AF_INET, address.c_str(), &ignored) == 1 ||
           inet_pton(AF_INET6, address.c_str(), &ignored) == 1;
}

/// Returns the address where ranks on other nodes reach rank 0. Only rank 0 calls this. On its machine, the
/// host name may resolve to the loopback (Debian's /etc/hosts) or to an address that leads only to this
/// machine.
std::string listening_address(const Rendezvous& at) {
    if (is_numbers(at.master_addr)) return at.master_addr;
    std::vector<Address> choices = resolve(at);
    std::stable_partition(choices.begin(), choices.end(), [](auto& it) { return it.family() == AF_INET; });
    for (const Address& address : choices) {
        if (!is_loopback(address) && !interface_with(numbers(address)).empty()) return numbers(address);
    }
    return interface_address(at);
}

/// Opens the store's socket. c10d would listen on every interface and would not report a port in use.
int listen_for_ranks(const Rendezvous& at) {
    const int fd = listening_socket(resolve(at).front());
    if (fd >= 0) return fd;
    if (errno == EADDRINUSE) {
        throw Error(Failure::Unreachable, Code("RANKS-MEETING"),
                    "port in use: another program listens at " + endpoint(at), {},
                    "set MASTER_PORT to a free port, the same on every rank");
    }
    throw Error(Failure::Unreachable, Code("RANKS-MEETING"),
                "cannot listen at " + endpoint(at) + ": " + std::strerror(errno), {},
                "MASTER_ADDR and MASTER_PORT say where rank 0 listens: an address of its machine");
}

/// Fills in the address at which this rank listens or looks for rank 0.
Rendezvous with_address(Rendezvous at) {
    if (at.store_is_elsewhere || at.store_fd) return at;
    if (is_one_node(at)) {
        at.master_addr = "127.0.0.1";
    } else if (at.rank == 0) {
        at.master_addr = listening_address(at);
    }
    return at;
}

using Clock = std::chrono::steady_clock;

/// Tries to connect; returns 0 or an errno.
int try_connect(const Address& address, std::chrono::microseconds patience) {
    const Socket socket(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (socket.fd() < 0) return errno;
    timeval bound{};  // also limits connect(2)
    bound.tv_sec = static_cast<time_t>(patience.count() / 1000000);
    bound.tv_usec = static_cast<suseconds_t>(patience.count() % 1000000);
    setsockopt(socket.fd(), SOL_SOCKET, SO_SNDTIMEO, &bound, sizeof bound);
    if (connect(socket.fd(), address.get(), address.length) == 0) return 0;
    return errno == EINPROGRESS ? ETIMEDOUT : errno;
}

/// Retries the connection until the store listens. c10d would retry too, but prints a stack trace to stderr
/// for each failed attempt.
void wait_for_listener(const Rendezvous& at, std::chrono::milliseconds timeout) {
    constexpr auto kPause = std::chrono::milliseconds(50);
    const std::vector<Address> addresses = resolve(at);
    const auto deadline = Clock::now() + timeout;
    int error = 0;
    while (true) {
        for (const Address& address : addresses) {
            const auto left = std::chrono::duration_cast<std::chrono::microseconds>(deadline - Clock::now());
            error = try_connect(address, std::max(left, std::chrono::microseconds(1)));
            if (error == 0) return;
        }
        if (Clock::now() + kPause > deadline) break;
        std::this_thread::sleep_for(kPause);
    }
    throw Error(Failure::Unreachable, Code("RANKS-MEETING"),
                "rank " + std::to_string(at.rank) + ": nobody answered at " + endpoint(at) + " for " +
                    seconds_text(timeout) + " (" + std::strerror(error) + ")",
                {}, "rank 0 listens at MASTER_ADDR:MASTER_PORT; is it started, and the port open?",
                cause::kPeerLost);
}

c10::intrusive_ptr<c10d::Store> open_store(const Rendezvous& at, std::chrono::milliseconds timeout) {
    c10d::TCPStoreOptions options;
    options.port = static_cast<uint16_t>(at.master_port);
    options.isServer = at.rank == 0 && !at.store_is_elsewhere;
    options.waitWorkers = false;
    options.timeout = timeout;
    if (options.isServer) {
        options.masterListenFd = at.store_fd ? *at.store_fd : listen_for_ranks(at);
    } else {
        wait_for_listener(at, timeout);
    }
    try {
        return c10::make_intrusive<c10d::TCPStore>(at.master_addr, options);
    } catch (const std::exception&) {
        const TransferFailure failure = failure_of(std::current_exception());
        throw Error(Failure::Unreachable, Code("RANKS-MEETING"),
                    "rank " + std::to_string(at.rank) + ": the store at " + endpoint(at) +
                        " does not work: " + failure.words,
                    {}, {}, failure.cause);
    }
}

std::string arrival_key(int rank) {
    return "arrived/" + std::to_string(rank);
}

std::string missing_ranks(c10d::Store& store, int world_size) {
    constexpr int kNamed = 8;
    std::string names;
    int missing = 0;
    for (int rank = 0; rank < world_size; ++rank) {
        if (store.check({arrival_key(rank)})) continue;
        if (++missing <= kNamed) names += (missing > 1 ? ", " : "") + std::to_string(rank);
    }
    if (missing > kNamed) names += " and " + std::to_string(missing - kNamed) + " more";
    return (missing == 1 ? "rank " : "ranks ") + names;
}

/// Polls until every rank has arrived: the store's own wait writes socket warnings to stderr when it times
/// out.
void wait_for_all(c10d::Store& store, const Rendezvous& at, std::chrono::milliseconds timeout) {
    constexpr auto kLongestPause = std::chrono::milliseconds(100);
    std::vector<std::string> keys;
    for (int rank = 0; rank < at.world_size; ++rank) keys.push_back(arrival_key(rank));
    const auto deadline = Clock::now() + timeout;
    auto pause = std::chrono::milliseconds(1);
    try {
        store.set(arrival_key(at.rank), std::string("1"));
        while (!store.check(keys)) {
            if (Clock::now() > deadline) {
                throw Error(Failure::Unreachable, Code("RANKS-MEETING"),
                            "rank " + std::to_string(at.rank) + " waited " + seconds_text(timeout) + " at " +
                                endpoint(at) + " for " + missing_ranks(store, at.world_size) + " of " +
                                std::to_string(at.world_size),
                            {}, "see the logs of the missing ranks");
            }
            std::this_thread::sleep_for(pause);
            pause = std::min(2 * pause, kLongestPause);
        }
    } catch (const c10::Error&) {
        throw Error(Failure::Unreachable, Code("RANKS-MEETING"),
                    "rank " + std::to_string(at.rank) + ": lost rank 0's store at " + endpoint(at) +
                        " while ranks were meeting: " + failure_of(std::current_exception()).words,
                    {}, {}, cause::kPeerLost);
    }
}

struct Interfaces {
    ifaddrs* first = nullptr;
    Interfaces() { getifaddrs(&first); }
    Interfaces(const Interfaces&) = delete;
    Interfaces& operator=(const Interfaces&) = delete;
    ~Interfaces() {
        if (first != nullptr) freeifaddrs(first);
    }
};

/// Returns the first IPv4 address of an interface that is up: of the interface `name`, or of any interface
/// except the loopback if `name` is empty.
std::optional<Address> address_of_interface(const std::string& name) {
    const Interfaces interfaces;
    for (const ifaddrs* at = interfaces.first; at != nullptr; at = at->ifa_next) {
        if (at->ifa_addr == nullptr || at->ifa_addr->sa_family != AF_INET || (at->ifa_flags & IFF_UP) == 0)
            continue;
        if (name.empty() ? (at->ifa_flags & IFF_LOOPBACK) != 0 : name != at->ifa_name) continue;
        Address address;
        address.length = sizeof(sockaddr_in);
        std::memcpy(&address.bytes, at->ifa_addr, address.length);
        return address;
    }
    return std::nullopt;
}

/// Returns the local address from which this machine would send to `target`. Connecting a datagram socket
/// sends nothing.
std::optional<Address> address_towards(const Address& target) {
    const Socket socket(::socket(target.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (socket.fd() < 0 || connect(socket.fd(), target.get(), target.length) != 0) return std::nullopt;
    Address address;
    address.length = sizeof address.bytes;
    if (getsockname(socket.fd(), address.get(), &address.length) != 0) return std::nullopt;
    return address;
}

}  // namespace

Meeting meet(const Rendezvous& rendezvous, std::chrono::milliseconds timeout) {
    const Rendezvous at = with_address(rendezvous);
    const std::string key(bytes_of(mac(at.secret, {"values of the store"})));
    Meeting meeting;
    meeting.sealed = c10::make_intrusive<SealedStore>(open_store(at, timeout), key);
    meeting.store = c10::make_intrusive<c10d::PrefixStore>(at.key_prefix, meeting.sealed);
    wait_for_all(*meeting.store, at, timeout);
    return meeting;
}

std::string interface_address(const Rendezvous& rendezvous) {
    if (!rendezvous.interface_name.empty()) {
        const auto address = address_of_interface(rendezvous.interface_name);
        if (address) return numbers(*address);
        throw Error(Failure::Unreachable, Code("RANKS-MEETING"),
                    "GLOO_SOCKET_IFNAME is \"" + rendezvous.interface_name +
                        "\", which is no interface of this machine with an IPv4 address");
    }
    if (is_one_node(rendezvous)) return "127.0.0.1";
    auto address = address_towards(resolve(rendezvous).front());
    // On rank 0's machine, the machine's name may resolve to the loopback, as in Debian's /etc/hosts.
    if (!address || is_loopback(*address)) address = address_of_interface("");
    if (address) return numbers(*address);
    throw Error(Failure::Unreachable, Code("RANKS-MEETING"), "no network interface reaches the other nodes",
                {}, "name one with GLOO_SOCKET_IFNAME");
}

ListeningSocket listen_at(const std::string& address) {
    Rendezvous at;
    at.master_addr = address;
    ListeningSocket made;
    made.fd = listening_socket(resolve(at).front());
    Address bound;
    bound.length = sizeof bound.bytes;
    if (made.fd < 0 || getsockname(made.fd, bound.get(), &bound.length) != 0)
        throw Error(Failure::Unreachable, Code("RANKS-MEETING"),
                    "cannot listen at " + address + ": " + std::strerror(errno));
    made.port = bound.family() == AF_INET6 ? ntohs(reinterpret_cast<sockaddr_in6*>(&bound.bytes)->sin6_port)
                                           : ntohs(reinterpret_cast<sockaddr_in*>(&bound.bytes)->sin_port);
    return made;
}

std::string interface_with(const std::string& address) {
    const Interfaces interfaces;
    for (const ifaddrs* at = interfaces.first; at != nullptr; at = at->ifa_next) {
        if (at->ifa_addr == nullptr) continue;
        const int family = at->ifa_addr->sa_family;
        if (family != AF_INET && family != AF_INET6) continue;
        Address own;
        own.length = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
        std::memcpy(&own.bytes, at->ifa_addr, own.length);
        if (numbers(own) == address) return at->ifa_name;
    }
    return "";
}

}  // namespace ringmaster
