#include <ATen/ATen.h>
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <latch>
#include <sstream>

#include "engine/comm/sealed_store.h"
#include "tests/support/ranks.h"

namespace ringmaster {
namespace {

using ::testing::HasSubstr;
using ::testing::Pair;

/// Binds a socket to a free port of 127.0.0.1; the socket listens only if `listening` is true.
struct FreePort {
    explicit FreePort(bool listening) : fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        const int yes = 1;
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t length = sizeof address;
        bind(fd, reinterpret_cast<sockaddr*>(&address), length);
        if (listening) listen(fd, 16);
        getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length);
        number = ntohs(address.sin_port);
    }
    FreePort(const FreePort&) = delete;
    FreePort& operator=(const FreePort&) = delete;
    ~FreePort() {
        if (fd >= 0) close(fd);
    }
    int release() { return std::exchange(fd, -1); }

    int fd;
    int number = 0;
};

int free_port() {
    return FreePort(false).number;
}

Rendezvous local_rendezvous(int rank, int world_size, int port) {
    Rendezvous at;
    at.rank = at.local_rank = rank;
    at.world_size = at.local_world_size = world_size;
    at.master_port = port;
    at.key_prefix = "test";
    return at;
}

GroupOptions short_meeting(int milliseconds) {
    GroupOptions options;
    options.meeting_timeout = std::chrono::milliseconds(milliseconds);
    return options;
}

/// Expects that every rank connects and that an all-reduce of ones gives `ranks`; `adjust` may change the
/// rendezvous.
void expect_all_meet(int ranks, int port, const std::function<void(Rendezvous&)>& adjust) {
    FirstFailure failure;
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank) {
        threads.emplace_back([&, rank] {
            try {
                Rendezvous at = local_rendezvous(rank, ranks, port);
                adjust(at);
                Groups groups = connect(at, ring_mesh(ranks), short_meeting(20000));
                const at::Tensor ones = at::ones({3});
                groups.world().all_reduce(ones).wait();
                EXPECT_EQ(ones[0].item<float>(), static_cast<float>(ranks));
                groups.world().barrier();
            } catch (...) {
                failure.note(rank, std::current_exception());
            }
        });
    }
    for (auto& thread : threads) thread.join();
    failure.rethrow();
}

std::string refusal(const Rendezvous& at, int timeout_ms) {
    try {
        connect(at, ring_mesh(at.world_size), short_meeting(timeout_ms));
    } catch (const Error& error) {
        EXPECT_EQ(error.failure, Failure::Unreachable);
        return error.text();
    }
    return "";
}

TEST(Connect, MeetsAtAPort) {
    expect_all_meet(3, free_port(), [](Rendezvous&) {});
}

TEST(Connect, MeetsAtAHostName) {
    expect_all_meet(2, free_port(), [](Rendezvous& at) { at.master_addr = "localhost"; });
}

TEST(Connect, MeetsAtTheSocketOfAnAgent) {
    FreePort port(true);
    const int number = port.number;
    expect_all_meet(3, number, [&](Rendezvous& at) {
        if (at.rank == 0) at.store_fd = port.release();
    });
}

/// Returns the addresses, as /proc writes them, on which this machine listens at the port.
std::string listeners_at(int port) {
    std::string line, addresses;
    std::ifstream tcp("/proc/net/tcp"), tcp6("/proc/net/tcp6");
    char suffix[16];
    std::snprintf(suffix, sizeof suffix, ":%04X", port);
    for (auto* file : {&tcp, &tcp6}) {
        while (std::getline(*file, line)) {
            std::istringstream words(line);
            std::string slot, local, remote, state;
            words >> slot >> local >> remote >> state;
            if (local.ends_with(suffix) && state == "0A") addresses += local.substr(0, local.find(':')) + " ";
        }
    }
    return addresses;
}

/// Returns the addresses at which rank 0 of two ranks listens while it waits for rank 1, and those after both
/// have connected.
std::pair<std::string, std::string> listeners_of(const std::function<void(Rendezvous&)>& adjust) {
    const int port = free_port();
    Rendezvous first = local_rendezvous(0, 2, port), second = local_rendezvous(1, 2, port);
    adjust(first);
    adjust(second);
    std::string waiting;
    std::thread rank_1([&] {
        while ((waiting = listeners_at(port)).empty())
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        connect(second, ring_mesh(2), short_meeting(20000)).world().barrier();
    });
    Groups groups = connect(first, ring_mesh(2), short_meeting(20000));
    const std::string met = listeners_at(port);
    groups.world().barrier();
    rank_1.join();
    return {waiting, met};
}

TEST(Connect, ListensOnTheLoopbackOnlyUntilAllHaveMet) {
    EXPECT_THAT(listeners_of([](Rendezvous&) {}), Pair("0100007F ", ""));
    EXPECT_THAT(listeners_of([](Rendezvous& at) { at.master_addr = "localhost"; }), Pair("0100007F ", ""));
}

TEST(Connect, ListensForSeveralNodesOnTheStatedAddressOnly) {
    const auto two_nodes = [](Rendezvous& at) {
        at.local_world_size = 1;
        at.interface_name = "lo";
        at.master_addr = "127.0.0.2";
    };
    EXPECT_THAT(listeners_of(two_nodes), Pair("0200007F ", ""));
    const auto by_name = [&](Rendezvous& at) {
        two_nodes(at);
        at.master_addr = "localhost";  // Debian's /etc/hosts maps a machine's name to a loopback address, too
    };
    EXPECT_THAT(listeners_of(by_name), Pair("0100007F ", ""));
}

TEST(Connect, RefusesARankWithAnotherToken) {
    FirstFailure failure;
    std::vector<std::thread> threads;
    const int port = free_port();
    for (int rank = 0; rank < 2; ++rank) {
        threads.emplace_back([&, rank] {
            try {
                Rendezvous at = local_rendezvous(rank, 2, port);
                at.secret = "token of " + std::to_string(rank);
                connect(at, ring_mesh(2), short_meeting(5000));
            } catch (...) {
                failure.note(rank, std::current_exception());
            }
        });
    }
    for (auto& thread : threads) thread.join();
    try {
        failure.rethrow();
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.text(), HasSubstr("no rank of this run wrote"));
        EXPECT_THAT(error.text(), HasSubstr("token"));
    }
}

TEST(Connect, RefusesAStrangerInARanksPlace) {
    const auto store = c10::make_intrusive<c10d::HashStore>();
    std::vector<std::string> said(2);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < 2; ++rank) {
        threads.emplace_back([&, rank] {
            try {
                GroupOptions options = options_of_ranks(std::chrono::seconds(10));
                options.key = rank == 0 ? "the run's" : "a stranger's";
                make_groups(store, rank, ring_mesh(2), options);
            } catch (const Error& error) {
                said[static_cast<size_t>(rank)] = error.text();
            }
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_THAT(said[0],
                HasSubstr("what connected to rank 0 as rank 1 (world) does not hold this run's token"));
}

std::vector<uint8_t> bytes(const std::string& text) {
    return {text.begin(), text.end()};
}

TEST(SealedStore, HidesItsValuesAndTakesNoOther) {
    const auto beneath = c10::make_intrusive<c10d::HashStore>();
    SealedStore store(beneath, "key"), of_another_run(beneath, "another key");
    store.set("rank/0", bytes("10.0.0.7:4242"));
    EXPECT_EQ(store.get("rank/0"), bytes("10.0.0.7:4242"));
    const std::vector<uint8_t> seen = beneath->get("rank/0");
    EXPECT_EQ(std::string(seen.begin(), seen.end()).find("10.0.0.7"), std::string::npos);
    EXPECT_THROW(of_another_run.get("rank/0"), Error);
    beneath->set("rank/1", seen);  // a genuine value, stored under another name
    EXPECT_THROW(store.get("rank/1"), Error);
    beneath->set("rank/2", bytes("10.6.6.6:1"));
    EXPECT_THROW(store.get("rank/2"), Error);
    store.close();
    EXPECT_THROW(store.get("rank/0"), Error);
}

TEST(Connect, NeedsNoSocketForOneRank) {
    Groups groups = connect(Rendezvous(), Mesh(), GroupOptions());
    EXPECT_EQ(groups.world().size(), 1);
}

TEST(Connect, NamesAPortInUse) {
    const FreePort taken(true);
    const std::string text = refusal(local_rendezvous(0, 2, taken.number), 2000);
    EXPECT_THAT(text, HasSubstr("127.0.0.1:" + std::to_string(taken.number)));
    EXPECT_THAT(text, HasSubstr("MASTER_PORT"));
}

TEST(Connect, NamesTheRanksThatAreMissing) {
    const std::string text = refusal(local_rendezvous(0, 3, free_port()), 500);
    EXPECT_THAT(text, HasSubstr("ranks 1, 2 of 3"));
    EXPECT_THAT(text, HasSubstr("0.5 s"));
}

TEST(Connect, SaysThatNobodyAnswers) {
    const int port = free_port();
    const std::string text = refusal(local_rendezvous(1, 2, port), 1500);
    EXPECT_THAT(text, HasSubstr("rank 1: nobody answered at 127.0.0.1:" + std::to_string(port)));
}

TEST(Connect, SaysThatAHostIsUnknown) {
    Rendezvous at = local_rendezvous(0, 2, free_port());
    at.local_world_size = 1;
    at.master_addr = "no-such-host.invalid";
    EXPECT_THAT(refusal(at, 500), HasSubstr("no-such-host.invalid"));
}

TEST(Connect, SaysThatAnInterfaceIsUnknown) {
    Rendezvous at = local_rendezvous(0, 2, free_port());
    at.interface_name = "nosuch0";
    EXPECT_THAT(refusal(at, 500), HasSubstr("nosuch0"));
}

TEST(Connect, RefusesAnotherNumberOfRanksThanPlanned) {
    EXPECT_THROW(connect(local_rendezvous(0, 2, 1), ring_mesh(4), GroupOptions()), Error);
}

}  // namespace
}  // namespace ringmaster
