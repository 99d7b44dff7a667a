#include "launcher/agent/fleet.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <thread>

#include "engine/error.h"
#include "launcher/agent/agent_lines.h"

namespace ringmaster {

namespace {

using std::chrono::milliseconds;

constexpr auto kBeat = std::chrono::seconds(2);
constexpr auto kGreetingPatience = std::chrono::seconds(5);  ///< time limit of a greeting
constexpr auto kMeetingPatience = std::chrono::seconds(15);  ///< time limit of all attempts to meet node 0
constexpr auto kRetry = milliseconds(200);
constexpr auto kDescriptorRest = std::chrono::seconds(1);
constexpr size_t kMostStrangers = 32;
constexpr size_t kPiece = 64 << 10;
/// maximum reads from one link per turn, so that the other links do not wait
constexpr int kPiecesAtOnce = 16;

sockaddr_in address_of(const std::string& text, int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    if (::inet_pton(AF_INET, text.c_str(), &address.sin_addr) != 1)
        throw Error(Failure::Usage, Code("ARGUMENT-VALUE"), "\"" + text + "\" is not an IPv4 address",
                    "--listen or --meet");
    return address;
}

const sockaddr* plain(const sockaddr_in& address) {
    return reinterpret_cast<const sockaddr*>(&address);
}

void set_options(int fd) {
    const int on = 1;
    const int patience_ms = static_cast<int>(milliseconds(kNodeSilence).count());
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &patience_ms, sizeof patience_ms);
    ::fcntl(fd, F_SETFL, O_NONBLOCK);
}

bool is_out_of_descriptors(int problem) {
    return problem == EMFILE || problem == ENFILE || problem == ENOBUFS || problem == ENOMEM;
}

/// Waits for a line from the peer until `deadline`. Returns nothing if the peer closed the connection, sent
/// too much or stayed silent.
std::optional<std::string> line_from(int fd, std::chrono::steady_clock::time_point deadline) {
    std::string line;
    while (line.size() <= Channel::kLongestGreeting) {
        const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
        pollfd waited{fd, POLLIN, 0};
        char byte = 0;  // reads byte by byte, because the bytes after this line belong to the next reader
        if (left.count() <= 0 || ::poll(&waited, 1, static_cast<int>(left.count())) <= 0 ||
            ::recv(fd, &byte, 1, 0) != 1)
            return std::nullopt;
        if (byte == '\n') return line;
        line += byte;
    }
    return std::nullopt;
}

enum class Greeting { Proven, Unanswered, Stranger };

Greeting greet_first(int fd, Channel& channel) {
    const auto deadline = std::chrono::steady_clock::now() + kGreetingPatience;
    for (std::string say = channel.opening(); !channel.is_proven();) {
        say += '\n';
        if (::send(fd, say.data(), say.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(say.size()))
            return Greeting::Unanswered;
        const auto line = line_from(fd, deadline);
        if (!line) return Greeting::Unanswered;
        const auto answer = channel.greet(*line);
        if (!answer) return Greeting::Stranger;
        say = *answer;
    }
    return Greeting::Proven;
}

}  // namespace

Fleet::Fleet(const FleetPlace& place) : place_(place), last_beat_(Clock::now()) {
    place.node == 0 ? listen() : meet_first();
}

void Fleet::listen() {
    Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = address_of(place_.address, 0);
    socklen_t size = sizeof address;
    if (::bind(socket.get(), plain(address), size) != 0 || ::listen(socket.get(), SOMAXCONN) != 0 ||
        ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
        throw Error(Failure::Unreachable, Code("NODE-MEETING"),
                    std::string("cannot listen for the other nodes: ") + std::strerror(errno),
                    place_.address);
    }
    ::fcntl(socket.get(), F_SETFL, O_NONBLOCK);
    port_ = ntohs(address.sin_port);
    listening_ = std::move(socket);
}

Descriptor Fleet::connected() const {
    Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in address = address_of(place_.address, place_.port);
    const timeval patience{10, 0};
    ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (::connect(socket.get(), plain(address), sizeof address) != 0) {
        throw Error(Failure::Unreachable, Code("NODE-MEETING"),
                    "node 0 cannot be reached from here: " +
                        std::string(std::strerror(errno == EINPROGRESS ? ETIMEDOUT : errno)),
                    place_.address + ":" + std::to_string(place_.port),
                    "the nodes have to reach each other at that address: a firewall between them?");
    }
    set_options(socket.get());
    return socket;
}

/// Connects to node 0. Retries if node 0 closes the connection, which it does if too many strangers connect
/// at once.
void Fleet::meet_first() {
    const auto deadline = Clock::now() + kMeetingPatience;
    const std::string where = place_.address + ":" + std::to_string(place_.port);
    while (true) {
        Descriptor socket = connected();
        Channel channel = Channel::of_other(place_.secret, place_.node);
        const Greeting greeting = greet_first(socket.get(), channel);
        if (greeting == Greeting::Proven) return add_link(std::move(socket), std::move(channel));
        if (greeting == Greeting::Stranger)
            throw Error(Failure::Unreachable, Code("NODE-MEETING"),
                        "what listens there does not hold this run's token", where,
                        "another program has the port, or the token of node 0 is another one");
        if (Clock::now() > deadline)
            throw Error(Failure::Unreachable, Code("NODE-MEETING"),
                        "node 0's agent does not take this node in", where,
                        "it holds another token in its run directory, or this node is there already");
        std::this_thread::sleep_for(kRetry);
    }
}

void Fleet::add_link(Descriptor socket, Channel channel) {
    const Clock::time_point now = Clock::now();
    links_.push_back({std::move(socket), std::move(channel), {}, {}, now, now, false});
}

void Fleet::add_to(std::vector<pollfd>& waited) const {
    if (listens() && Clock::now() >= no_descriptors_until_) waited.push_back({listening_.get(), POLLIN, 0});
    for (const Link& link : links_) {
        if (!link.lost)
            waited.push_back(
                {link.socket.get(), static_cast<short>(link.out.empty() ? POLLIN : POLLIN | POLLOUT), 0});
    }
}

void Fleet::drop_oldest_stranger() {
    const auto is_stranger = [](const Link& link) { return !link.channel.is_proven(); };
    if (static_cast<size_t>(std::count_if(links_.begin(), links_.end(), is_stranger)) < kMostStrangers)
        return;
    links_.erase(std::find_if(links_.begin(), links_.end(), is_stranger));  // the first one is the oldest
}

void Fleet::accept_links() {
    if (Clock::now() < no_descriptors_until_) return;
    for (size_t i = 0; listens() && i < kMostStrangers; ++i) {
        Descriptor socket(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (socket.get() < 0) {
            if (is_out_of_descriptors(errno)) no_descriptors_until_ = Clock::now() + kDescriptorRest;
            return;
        }
        set_options(socket.get());
        drop_oldest_stranger();
        add_link(std::move(socket), Channel::of_first(place_.secret, place_.nodes));
    }
}

/// Stops listening once every node has connected. A node that disconnects cannot come back, because losing it
/// ends the run.
void Fleet::stop_listening_if_complete() {
    if (!listens()) return;
    for (int node = 1; node < place_.nodes; ++node) {
        if (!is_connected(node)) return;
    }
    listening_.close();
    std::erase_if(links_, [](const Link& link) { return !link.channel.is_proven(); });
}

bool Fleet::is_connected(int node) const {
    return std::any_of(links_.begin(), links_.end(), [&](const Link& link) {
        return link.channel.is_proven() && link.channel.node() == node;
    });
}

int Fleet::sender(const Link& link) const {
    return place_.node == 0 ? link.channel.node() : 0;
}

void Fleet::lose(Link& link, const char* how, std::vector<FleetMessage>& messages) const {
    link.lost = true;
    link.socket.close();
    if (link.channel.is_proven()) messages.push_back({sender(link), how, ""});
}

/// Handles one line of a link. Returns false if the connection must be closed.
bool Fleet::take_line(Link& link, std::string_view line, std::vector<FleetMessage>& messages) {
    if (!link.channel.is_proven()) {
        const bool would_be_second = is_connected(link.channel.node());
        const auto answer = would_be_second ? std::nullopt : link.channel.greet(line);
        if (!answer) return false;
        link.out += *answer + "\n";
        flush(link);
        return true;
    }
    const auto text = link.channel.opened_line(line);
    if (!text) return false;
    const size_t blank = text->find(' ');
    std::string word = text->substr(0, blank);
    std::string rest = blank == std::string::npos ? "" : text->substr(blank + 1);
    if (word != "beat") messages.push_back({sender(link), std::move(word), std::move(rest)});
    return true;
}

void Fleet::take_lines(Link& link, std::vector<FleetMessage>& messages) {
    size_t begin = 0;
    for (size_t end; (end = link.in.find('\n', begin)) != std::string::npos; begin = end + 1) {
        const bool fits = link.channel.is_proven() || end - begin <= Channel::kLongestGreeting;
        if (!fits || !take_line(link, std::string_view(link.in).substr(begin, end - begin), messages))
            return lose(link, "forged", messages);
    }
    link.in.erase(0, begin);
    const size_t most = link.channel.is_proven() ? kLongestLine : Channel::kLongestGreeting;
    if (link.in.size() > most) lose(link, "forged", messages);
}

void Fleet::read_from(Link& link, std::vector<FleetMessage>& messages) {
    std::array<char, kPiece> buffer;
    ssize_t got = -1;
    for (int pieces = 0; pieces < kPiecesAtOnce && !link.lost; ++pieces) {
        const size_t wanted = link.channel.is_proven() ? buffer.size() : Channel::kLongestGreeting;
        got = ::recv(link.socket.get(), buffer.data(), wanted, 0);
        if (got <= 0) break;
        link.heard = Clock::now();
        link.in.append(buffer.data(), static_cast<size_t>(got));
        take_lines(link, messages);
    }
    if (link.lost) return;
    const bool closed = got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
    const bool silent = link.channel.is_proven() ? Clock::now() - link.heard > kNodeSilence
                                                 : Clock::now() - link.since > kGreetingPatience;
    if (closed || silent) lose(link, closed ? "gone" : "silent", messages);
}

std::vector<FleetMessage> Fleet::take() {
    std::vector<FleetMessage> messages;
    accept_links();
    for (Link& link : links_) {
        if (link.lost) continue;
        flush(link);
        read_from(link, messages);
    }
    std::erase_if(links_, [](const Link& link) { return link.lost && !link.channel.is_proven(); });
    stop_listening_if_complete();
    return messages;
}

void Fleet::flush(Link& link) {
    const ssize_t put =
        link.out.empty() ? 0 : ::send(link.socket.get(), link.out.data(), link.out.size(), MSG_NOSIGNAL);
    if (put > 0) link.out.erase(0, static_cast<size_t>(put));
}

void Fleet::send(int node, const std::string& line) {
    for (Link& link : links_) {
        if (link.lost || !link.channel.is_proven() || (place_.node == 0 && link.channel.node() != node))
            continue;
        link.out += link.channel.sealed_line(line) + "\n";
        flush(link);
    }
}

void Fleet::send_all(const std::string& line) {
    for (int node = 1; node < place_.nodes; ++node) send(node, line);
}

void Fleet::beat() {
    if (Clock::now() - last_beat_ < kBeat) return;
    last_beat_ = Clock::now();
    place_.node == 0 ? send_all("beat") : send(0, "beat");
}

std::string interface_of(const std::string& address) {
    in_addr wanted{};
    ifaddrs* first = nullptr;
    if (::inet_pton(AF_INET, address.c_str(), &wanted) != 1 || ::getifaddrs(&first) != 0) return {};
    std::string name;
    for (const ifaddrs* at = first; at != nullptr && name.empty(); at = at->ifa_next) {
        if (at->ifa_addr == nullptr || at->ifa_addr->sa_family != AF_INET) continue;
        const auto* here = reinterpret_cast<const sockaddr_in*>(at->ifa_addr);
        if (here->sin_addr.s_addr == wanted.s_addr) name = at->ifa_name;
    }
    ::freeifaddrs(first);
    return name;
}

std::string address_towards(const std::string& address) {
    const Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const sockaddr_in target = address_of(address, 9);
    sockaddr_in own{};
    socklen_t size = sizeof own;
    if (::connect(socket.get(), plain(target), sizeof target) != 0 ||
        ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own), &size) != 0)
        return {};
    char text[INET_ADDRSTRLEN] = {};
    return ::inet_ntop(AF_INET, &own.sin_addr, text, sizeof text) == nullptr ? "" : text;
}

}  // namespace ringmaster
