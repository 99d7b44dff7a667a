#include "launcher/agent/stop_clock.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace ringmaster {
namespace {

using namespace std::chrono_literals;
using Time = StopClock::Clock::time_point;

TEST(StopClock, LosesPatienceWithOneThatStaysStopped) {
    StopClock clock;
    for (auto at = 0s; at < StopClock::kPatience; at += 1s) {
        clock.look(true, Time(at));
        EXPECT_FALSE(clock.is_too_long());
    }
    clock.look(true, Time(StopClock::kPatience));
    EXPECT_TRUE(clock.is_too_long());
}

TEST(StopClock, BeginsAnewAfterEachContinuation) {
    StopClock clock;
    for (int i = 0; i < 100; ++i) {
        clock.look(i % 8 != 0, Time(i * 1s));
        EXPECT_FALSE(clock.is_too_long());
    }
}

TEST(StopClock, DoesNotCountWhileItsAgentWasSuspendedItself) {
    StopClock clock;
    clock.look(true, Time(0s));
    clock.look(true, Time(1h));
    EXPECT_FALSE(clock.is_too_long());
    clock.look(false, Time(1h + 1s));
    clock.look(true, Time(2h));
    EXPECT_FALSE(clock.is_too_long());
}

TEST(StopClock, SeesAChildThatIsStoppedAgainAndAgainUntilItIsContinued) {
    const pid_t child = ::fork();
    if (child == 0) {
        while (true) ::pause();
    }
    EXPECT_EQ(stopped_by(child), 0);
    ::kill(child, SIGSTOP);
    siginfo_t info{};
    ::waitid(P_PID, static_cast<id_t>(child), &info, WSTOPPED | WNOWAIT);
    for (int look = 0; look < 3; ++look) EXPECT_EQ(stopped_by(child), SIGSTOP);
    ::kill(child, SIGCONT);
    ::waitid(P_PID, static_cast<id_t>(child), &info, WCONTINUED | WNOWAIT);
    EXPECT_EQ(stopped_by(child), 0);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    EXPECT_EQ(stopped_by(child), 0);
}

}  // namespace
}  // namespace ringmaster
