// Tests how node 0's port treats the other nodes' agents and strangers.
#include "launcher/agent/fleet.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "engine/error.h"
#include "launcher/agent/agent_lines.h"

namespace ringmaster {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

constexpr const char* kSecret = "0123456789abcdef0123456789abcdef";

FleetPlace place(int node, int nodes, int port = 0, const std::string& secret = kSecret) {
    return {node, nodes, "127.0.0.1", port, secret};
}

/// Returns whether `port` accepts a connection at `address_here`, an address of this machine.
bool is_listened_at(const char* address_here, int port) {
    const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    ::inet_pton(AF_INET, address_here, &address.sin_addr);
    return ::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
}

Descriptor stranger_at(int port) {
    Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    const timeval patience{2, 0};
    ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    return socket;
}

void say(const Descriptor& socket, const std::string& text) {
    [[maybe_unused]] const ssize_t put = ::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL);
}

/// Returns everything received until the other end closes or sends nothing for two seconds.
std::string heard_on(const Descriptor& socket, bool* closed = nullptr) {
    std::string text;
    char buffer[4096];
    ssize_t got = 0;
    while ((got = ::recv(socket.get(), buffer, sizeof buffer, 0)) > 0)
        text.append(buffer, static_cast<size_t>(got));
    if (closed != nullptr) *closed = got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
    return text;
}

bool is_closed(const Descriptor& socket) {
    bool closed = false;
    heard_on(socket, &closed);
    return closed;
}

size_t open_descriptors() {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

int64_t resident_bytes() {
    std::ifstream in("/proc/self/statm");
    int64_t pages = 0;
    in >> pages >> pages;
    return pages * ::sysconf(_SC_PAGESIZE);
}

/// Polls node 0's Fleet in a thread, as the agent's supervisor does.
class FirstNode : public testing::Test {
  protected:
    void start(int nodes) {
        fleet_ = std::make_unique<Fleet>(place(0, nodes));
        thread_ = std::thread([this] {
            while (!over_) {
                std::vector<pollfd> waited;
                fleet_->add_to(waited);
                ::poll(waited.data(), waited.size(), 20);
                ++rounds_;
                for (FleetMessage& message : fleet_->take()) {
                    const std::lock_guard lock(mutex_);
                    messages_.push_back(std::move(message));
                }
                fleet_->beat();
            }
        });
    }
    ~FirstNode() override {
        over_ = true;
        if (thread_.joinable()) thread_.join();
    }

    int port() const { return fleet_->port(); }

    static void wait_until(const char* what, const std::function<bool()>& is_so) {
        for (const auto end = Clock::now() + std::chrono::seconds(10); Clock::now() < end;) {
            if (is_so()) return;
            std::this_thread::sleep_for(milliseconds(5));
        }
        ADD_FAILURE() << "waited in vain for " << what;
    }
    std::vector<FleetMessage> heard() {
        const std::lock_guard lock(mutex_);
        return messages_;
    }

    std::unique_ptr<Fleet> fleet_;
    std::thread thread_;
    std::atomic<bool> over_ = false;
    std::atomic<int64_t> rounds_ = 0;
    std::mutex mutex_;
    std::vector<FleetMessage> messages_;
};

TEST_F(FirstNode, HearsTheOthersAndThenStopsListening) {
    start(3);
    Fleet one(place(1, 3, port()));
    one.send(0, "hello {}");
    wait_until("the first hello", [&] { return heard().size() == 1; });
    const Descriptor waiting = stranger_at(port());
    Fleet two(place(2, 3, port()));
    two.send(0, "asked stop");
    wait_until("both", [&] { return heard().size() == 2; });
    EXPECT_EQ(heard()[1].node, 2);
    EXPECT_EQ(heard()[1].word + " " + heard()[1].rest, "asked stop");
    EXPECT_TRUE(is_closed(waiting));
    Descriptor late(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port()));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_NE(::connect(late.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
}

TEST(Fleet, ListensAtTheStatedAddressOnly) {
    FleetPlace at_two = place(0, 2);
    at_two.address = "127.0.0.2";
    const Fleet fleet(at_two);
    EXPECT_TRUE(is_listened_at("127.0.0.2", fleet.port()));
    EXPECT_FALSE(is_listened_at("127.0.0.1", fleet.port()));
}

TEST_F(FirstNode, IsNotReachedWithAnotherSecret) {
    start(2);
    try {
        Fleet other(place(1, 2, port(), "another secret of sixteen bytes"));
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.failure, Failure::Unreachable);
        EXPECT_THAT(error.text(), HasSubstr("token"));
    }
    EXPECT_TRUE(heard().empty());
}

TEST_F(FirstNode, TellsStrangersNothingAndObeysNone) {
    start(3);
    Fleet one(place(1, 3, port()));
    one.send(0, "hello {}");
    wait_until("the hello", [&] { return heard().size() == 1; });
    const std::string nonce(32, 'a');
    for (const std::string& said :
         {std::string("hello ") + kSecret + " 2 {}\n", std::string("asked now\n"),
          std::string("GET / HTTP/1.0\n\n"), "agent 2 2 " + nonce + "\nproof " + std::string(64, '0') + "\n",
          "agent 2 1 " + nonce + "\n", std::string("\n\n\n"), std::string("\0\0\n", 3), std::string(300, 'x'),
          std::string(1 << 20, 'x')}) {
        const Descriptor stranger = stranger_at(port());
        say(stranger, said);
        ::shutdown(stranger.get(), SHUT_WR);
        const std::string heard_there = heard_on(stranger);
        EXPECT_EQ(heard_there.find(kSecret), std::string::npos);
        EXPECT_TRUE(heard_there.empty() || heard_there.starts_with("challenge ")) << heard_there;
        EXPECT_LE(heard_there.size(), 64U);
    }
    EXPECT_EQ(heard().size(), 1U);
}

/// Forwards one connection to `port` and records what each of the two ends sent.
struct Recorder {
    explicit Recorder(int port) : listening(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        ::bind(listening.get(), reinterpret_cast<sockaddr*>(&address), size);
        ::listen(listening.get(), 1);
        ::getsockname(listening.get(), reinterpret_cast<sockaddr*>(&address), &size);
        own_port = ntohs(address.sin_port);
        thread = std::thread([this, port] {
            client = Descriptor(::accept(listening.get(), nullptr, nullptr));
            server = stranger_at(port);
            std::vector<pollfd> both = {{client.get(), POLLIN, 0}, {server.get(), POLLIN, 0}};
            char buffer[4096];
            while (!over && ::poll(both.data(), 2, 50) >= 0) {
                for (int i = 0; i < 2; ++i) {
                    const ssize_t got =
                        both[i].revents == 0 ? 0 : ::recv(both[i].fd, buffer, sizeof buffer, 0);
                    if (got <= 0) continue;
                    ::send(both[1 - i].fd, buffer, static_cast<size_t>(got), MSG_NOSIGNAL);
                    (i == 0 ? from_client : from_server).append(buffer, static_cast<size_t>(got));
                }
            }
        });
    }
    void stop() {
        over = true;
        if (thread.joinable()) thread.join();
    }
    ~Recorder() { stop(); }

    Descriptor listening, client, server;
    int own_port = 0;
    std::atomic<bool> over = false;
    std::thread thread;
    std::string from_client, from_server;
};

TEST_F(FirstNode, IsNotFooledByARecordedConnection) {
    start(4);
    Recorder wire(port());
    Fleet one(place(1, 4, wire.own_port));
    one.send(0, "hello {}");
    one.send(0, "asked now");
    wait_until("both lines", [&] { return heard().size() == 2; });
    wire.stop();
    EXPECT_THAT(wire.from_client, HasSubstr("asked now"));
    EXPECT_EQ((wire.from_client + wire.from_server).find(kSecret), std::string::npos);
    std::string as_node_2 = wire.from_client;
    as_node_2.replace(as_node_2.find("agent 2 1"), 9, "agent 2 2");
    for (const std::string& recorded : {wire.from_client, as_node_2}) {
        const Descriptor replay = stranger_at(port());
        say(replay, recorded);
        EXPECT_TRUE(is_closed(replay));
    }
    say(wire.server, wire.from_client.substr(wire.from_client.rfind('\n', wire.from_client.size() - 2) + 1));
    wait_until("the end of the connection with a repeated line", [&] { return heard().size() == 3; });
    EXPECT_EQ(heard()[2].word, "forged");
}

TEST_F(FirstNode, GivesAFloodOfStrangersFewPlacesAndLittleMemory) {
    start(2);
    const size_t before = open_descriptors();
    const int64_t memory = resident_bytes();
    std::vector<Descriptor> strangers;
    for (int i = 0; i < 300; ++i) strangers.push_back(stranger_at(port()));
    wait_until("the strangers to be dropped", [&] { return open_descriptors() <= before + 300 + 32; });
    const std::string piece(1 << 20, 'x');
    for (int i = 0; i < 8; ++i) {
        const Descriptor loud = stranger_at(port());
        for (int sent = 0; sent < 16; ++sent) say(loud, piece);
        EXPECT_TRUE(is_closed(loud));
    }
    EXPECT_LT(resident_bytes() - memory, 8 << 20);
    Fleet one(place(1, 2, port()));
    one.send(0, "hello {}");
    wait_until("the hello", [&] { return heard().size() == 1; });
}

TEST_F(FirstNode, ClosesAtOnceWhoSendsMoreThanAGreetingWithoutALine) {
    start(2);
    const Descriptor loud = stranger_at(port());
    say(loud, std::string(Channel::kLongestGreeting + 1, 'x'));
    EXPECT_TRUE(is_closed(loud));  // waits two seconds; a silent stranger would be closed after five
}

TEST_F(FirstNode, LosesANodeThatSendsMoreThanTheLongestLine) {
    start(2);
    const Descriptor socket = stranger_at(port());
    Channel one = Channel::of_other(kSecret, 1);
    for (std::string line = one.opening(); !one.is_proven();) {
        say(socket, line + "\n");
        std::string answer;
        for (char byte = 0; ::recv(socket.get(), &byte, 1, 0) == 1 && byte != '\n';) answer += byte;
        const auto next = one.greet(answer);
        ASSERT_TRUE(next) << answer;
        line = *next;
    }
    say(socket, std::string(kLongestLine + 1, 'x'));
    wait_until("the end of the connection", [&] { return !heard().empty(); });
    ASSERT_FALSE(heard().empty());
    EXPECT_EQ(heard()[0].word, "forged");
}

TEST_F(FirstNode, ClosesWhoStaysSilent) {
    start(2);
    const Descriptor silent = stranger_at(port());
    say(silent, "agent");
    const timeval patience{8, 0};
    ::setsockopt(silent.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    const auto begin = Clock::now();
    EXPECT_TRUE(is_closed(silent));
    EXPECT_GE(Clock::now() - begin, std::chrono::seconds(4));
}

TEST_F(FirstNode, RestsAtTheLimitOfDescriptors) {
    start(2);
    rlimit limit{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
    const Descriptor stranger(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const rlimit full{0, limit.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &full), 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port()));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(stranger.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    const int64_t before = rounds_;
    std::this_thread::sleep_for(milliseconds(500));
    const int64_t rounds = rounds_ - before;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    EXPECT_LT(rounds, 100);  // 25 rounds of 20 ms each; a busy loop would make thousands
    Fleet one(place(1, 2, port()));
    one.send(0, "hello {}");
    wait_until("the hello", [&] { return heard().size() == 1; });
}

}  // namespace
}  // namespace ringmaster
