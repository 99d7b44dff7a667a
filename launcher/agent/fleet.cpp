#include "launcher/agent/fleet.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <nlohmann/json.hpp>

#include "engine/error.h"

namespace ringmaster {

using Json = nlohmann::json;

namespace {

constexpr auto kBeat = std::chrono::seconds(2);
constexpr auto kHelloPatience = std::chrono::seconds(5);
constexpr size_t kLongestLine = 4 << 20;

sockaddr_in address_of(const std::string& text, int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    if (::inet_pton(AF_INET, text.c_str(), &address.sin_addr) != 1)
        throw Error(Failure::Usage, "\"" + text + "\" is no IPv4 address", "--listen or --meet");
    return address;
}

const sockaddr* plain(const sockaddr_in& address) {
    return reinterpret_cast<const sockaddr*>(&address);
}

void set_options(int fd) {
    const int on = 1;
    const int patience_ms = static_cast<int>(std::chrono::milliseconds(kNodeSilence).count());
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &patience_ms, sizeof patience_ms);
    ::fcntl(fd, F_SETFL, O_NONBLOCK);
}

/// Takes the same time wherever they differ.
bool is_same(const std::string& a, const std::string& b) {
    unsigned char differs = a.size() == b.size() ? 0 : 1;
    for (size_t i = 0; i < a.size() && i < b.size(); ++i) differs |= static_cast<unsigned char>(a[i] ^ b[i]);
    return differs == 0 && !a.empty();
}

Json json_of(const ProcessId& process) {
    return {{"host", process.host},
            {"pid", process.pid},
            {"start_time", process.start_time},
            {"boot_id", process.boot_id}};
}

ProcessId process_of(const Json& json) {
    return {json.at("host"), json.at("pid"), json.at("start_time"), json.at("boot_id")};
}

}  // namespace

Fleet::Fleet(const FleetPlace& place) : place_(place), last_beat_(Clock::now()) {
    Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = address_of(place.address, place.node == 0 ? 0 : place.port);
    const std::string where = place.address + (place.node == 0 ? "" : ":" + std::to_string(place.port));
    socklen_t size = sizeof address;
    if (place.node == 0) {
        if (::bind(socket.get(), plain(address), size) != 0 || ::listen(socket.get(), SOMAXCONN) != 0 ||
            ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
            throw Error(Failure::Unreachable,
                        std::string("cannot listen for the other nodes: ") + std::strerror(errno), where);
        }
        ::fcntl(socket.get(), F_SETFL, O_NONBLOCK);
        port_ = ntohs(address.sin_port);
        listening_ = std::move(socket);
        return;
    }
    const timeval patience{10, 0};
    ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (::connect(socket.get(), plain(address), size) != 0) {
        throw Error(Failure::Unreachable,
                    "node 0 cannot be reached from here: " +
                        std::string(std::strerror(errno == EINPROGRESS ? ETIMEDOUT : errno)),
                    where, "the nodes have to reach each other at that address: a firewall between them?");
    }
    set_options(socket.get());
    Link& link = links_.emplace_back();
    link.socket = std::move(socket);
    link.node = 0;
    link.heard = link.since = Clock::now();
}

void Fleet::say_hello(const NodeState& self) {
    send(0, "hello " + place_.token + " " + std::to_string(place_.node) + " " + node_to_line(self));
}

void Fleet::add_to(std::vector<pollfd>& waited) const {
    if (listening_.get() >= 0) waited.push_back({listening_.get(), POLLIN, 0});
    for (const Link& link : links_) {
        if (!link.lost)
            waited.push_back(
                {link.socket.get(), static_cast<short>(link.out.empty() ? POLLIN : POLLIN | POLLOUT), 0});
    }
}

void Fleet::accept_links() {
    while (listening_.get() >= 0) {
        Descriptor socket(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (socket.get() < 0) return;
        set_options(socket.get());
        Link& link = links_.emplace_back();
        link.socket = std::move(socket);
        link.heard = link.since = Clock::now();
    }
}

void Fleet::take_line(Link& link, const std::string& line, std::vector<FleetMessage>& messages) {
    const size_t blank = line.find(' ');
    std::string word = line.substr(0, blank);
    std::string rest = blank == std::string::npos ? "" : line.substr(blank + 1);
    if (link.node < 0) {
        const size_t token_end = rest.find(' ');
        int node = 0;
        const bool known = word == "hello" && token_end != std::string::npos &&
                           is_same(rest.substr(0, token_end), place_.token);
        const size_t node_end = known ? rest.find(' ', token_end + 1) : std::string::npos;
        if (node_end != std::string::npos)
            std::from_chars(rest.data() + token_end + 1, rest.data() + node_end, node);
        if (node < 1 || node >= place_.nodes) {
            link.lost = true;
            link.socket.close();
            return;
        }
        link.node = node;
        rest = rest.substr(node_end + 1);
    }
    if (word != "beat") messages.push_back({link.node, std::move(word), std::move(rest)});
}

void Fleet::read_from(Link& link, std::vector<FleetMessage>& messages) {
    std::array<char, 65536> buffer;
    ssize_t got = 0;
    while ((got = ::recv(link.socket.get(), buffer.data(), buffer.size(), 0)) > 0) {
        link.heard = Clock::now();
        link.in.append(buffer.data(), static_cast<size_t>(got));
        for (size_t end; !link.lost && (end = link.in.find('\n')) != std::string::npos;) {
            const std::string line = link.in.substr(0, end);
            link.in.erase(0, end + 1);
            take_line(link, line, messages);
        }
        const size_t most = link.node < 0 ? 64 << 10 : kLongestLine;
        if (link.lost || link.in.size() > most) break;
    }
    const bool closed = got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
    const auto quiet = Clock::now() - link.heard;
    const bool silent = link.node < 0 ? Clock::now() - link.since > kHelloPatience : quiet > kNodeSilence;
    if (link.lost || (!closed && !silent)) return;
    link.lost = true;
    link.socket.close();
    if (link.node >= 0) messages.push_back({link.node, closed ? "gone" : "silent", ""});
}

std::vector<FleetMessage> Fleet::take() {
    std::vector<FleetMessage> messages;
    accept_links();
    for (Link& link : links_) {
        if (link.lost) continue;
        flush(link);
        read_from(link, messages);
    }
    std::erase_if(links_, [](const Link& link) { return link.lost && link.node < 0; });
    return messages;
}

void Fleet::flush(Link& link) {
    const ssize_t put =
        link.out.empty() ? 0 : ::send(link.socket.get(), link.out.data(), link.out.size(), MSG_NOSIGNAL);
    if (put > 0) link.out.erase(0, static_cast<size_t>(put));
}

void Fleet::send(int node, const std::string& line) {
    for (Link& link : links_) {
        if (link.node != node || link.lost) continue;
        link.out += line + "\n";
        flush(link);
    }
}

void Fleet::send_all(const std::string& line) {
    for (Link& link : links_) {
        if (link.node >= 0) send(link.node, line);
    }
}

void Fleet::beat() {
    if (Clock::now() - last_beat_ < kBeat) return;
    last_beat_ = Clock::now();
    send_all("beat");
}

std::string rank_ends_to_line(const std::vector<RankEnd>& ends) {
    Json list = Json::array();
    for (const RankEnd& end : ends) {
        list.push_back({{"rank", end.rank},
                        {"wait_status", end.wait_status},
                        {"killed_by_us", end.killed_by_us},
                        {"unkillable", end.unkillable},
                        {"t", end.t},
                        {"stopped", end.stopped},
                        {"place", end.place},
                        {"waits", end.waits},
                        {"log", end.record.last_log_lines}});
        if (end.record.error) {
            list.back()["error"] = {{"message", end.record.error->message},
                                    {"where", end.record.error->where},
                                    {"t", end.record.error_t}};
        }
    }
    return list.dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::vector<RankEnd> rank_ends_from_line(const std::string& line) {
    try {
        std::vector<RankEnd> ends;
        for (const Json& json : Json::parse(line)) {
            RankEnd& end = ends.emplace_back();
            end.rank = json.at("rank");
            end.wait_status = json.at("wait_status");
            end.killed_by_us = json.at("killed_by_us");
            end.unkillable = json.at("unkillable");
            end.t = json.at("t");
            end.stopped = json.at("stopped");
            end.place = json.at("place");
            end.waits = json.at("waits");
            end.record.last_log_lines = json.at("log").get<std::vector<std::string>>();
            if (json.contains("error")) {
                end.record.error = ErrorEvent{json.at("error").at("message"), json.at("error").at("where")};
                end.record.error_t = json.at("error").at("t");
            }
        }
        return ends;
    } catch (const Json::exception&) {
        return {};
    }
}

std::string node_to_line(const NodeState& node) {
    Json ranks = Json::array();
    for (const RankProcess& rank : node.ranks)
        ranks.push_back({{"rank", rank.rank}, {"process", json_of(rank.process)}});
    return Json{{"host", node.host}, {"agent", json_of(node.agent)}, {"ranks", std::move(ranks)}}.dump(
        -1, ' ', true, Json::error_handler_t::replace);
}

NodeState node_from_line(const std::string& line) {
    try {
        const Json json = Json::parse(line);
        NodeState node{json.at("host"), process_of(json.at("agent")), {}};
        for (const Json& rank : json.at("ranks"))
            node.ranks.push_back({rank.at("rank"), process_of(rank.at("process"))});
        return node;
    } catch (const Json::exception&) {
        return {};
    }
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
