#include "launcher/agent/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

namespace ringmaster {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Packs an exit status as the kernel does (wait(2)).
int exited(int status) {
    return status << 8;
}
int killed(int signal) {
    return signal;
}

RankEnd rank(int number, int wait_status, double t = 100) {
    RankEnd end;
    end.rank = number;
    end.wait_status = wait_status;
    end.t = t;
    return end;
}

RankEnd saying(RankEnd end, double t, const std::string& message, const std::string& where = "") {
    end.record.error = ErrorEvent{message, where};
    end.record.error_t = t;
    return end;
}

RankEnd ours(int number) {
    RankEnd end = rank(number, killed(SIGKILL));
    end.killed_by_us = true;
    return end;
}

RankEnd done(RankEnd end, int64_t step, const std::string& state) {
    end.record.step = step;
    end.record.done = DoneEvent{step, state};
    return end;
}

Ending failure(std::vector<RankEnd> ranks) {
    Ending ending;
    ending.trigger = Trigger::RankFailed;
    ending.ranks = std::move(ranks);
    return ending;
}

constexpr const char* kLost =
    "waiting for keys and values from rank 1: Connection closed by peer [127.0.0.1]:4242";

TEST(Verdict, NamesTheStoppedRankBeforeThoseThatLostItOrTheirNode) {
    RankEnd stopped = ours(2);
    stopped.stopped = "was stopped by SIGSTOP";
    stopped.place = "is at work in layer 1, hop 2 (step 3)";
    Ending ending = failure({saying(rank(0, exited(1)), 90, kLost), ours(1), stopped});
    ending.lost_node = "node 1 is gone";
    EXPECT_EQ(
        judge(ending).reason,
        "rank 2 was stopped by SIGSTOP: it is at work in layer 1, hop 2 (step 3); no checkpoint was saved\n  "
        "rank 2 is at work in layer 1, hop 2 (step 3)");
    EXPECT_EQ(judge(ending).state, RunPhase::Failed);
}

TEST(Verdict, NamesTheRankAndTheSignalThatKilledIt) {
    const Verdict verdict = judge(failure({ours(0), rank(1, killed(SIGKILL))}));
    EXPECT_EQ(verdict.state, RunPhase::Failed);
    EXPECT_EQ(verdict.reason, "rank 1 was killed by signal 9 (Killed)");
}

TEST(Verdict, NamesTheExitStatusWithTheErrorEvent) {
    const auto verdict =
        judge(failure({saying(rank(0, exited(1)), 5, "the loss is nan", "step 7"), ours(1)}));
    EXPECT_EQ(verdict.reason, "rank 0 ended with exit status 1: step 7: the loss is nan");
}

TEST(Verdict, ShowsTheEndOfTheLogWhereTheRankSaidNothing) {
    RankEnd mute = rank(2, killed(SIGSEGV));
    mute.record.last_log_lines = {"one", "two"};
    EXPECT_EQ(judge(failure({ours(0), ours(1), mute})).reason,
              "rank 2 was killed by signal 11 (Segmentation fault); the end of its log:\n  one\n  two");
}

TEST(Verdict, BlamesTheRankThatFailedNotThoseThatLostIt) {
    const RankEnd lost = saying(rank(0, exited(1), 100.1), 100.05, kLost);
    EXPECT_THAT(judge(failure({lost, rank(1, killed(SIGKILL), 100.2)})).reason,
                StartsWith("rank 1 was killed by signal 9"));
    EXPECT_THAT(judge(failure({lost, saying(rank(1, exited(1), 100.3), 100.2, "the disk is full")})).reason,
                StartsWith("rank 1 ended with exit status 1: the disk is full"));
    RankEnd aborted = rank(0, killed(SIGABRT), 99);
    aborted.record.last_log_lines = {"terminate called", "  what():  Connection reset by peer"};
    EXPECT_THAT(judge(failure({aborted, rank(1, exited(7), 100)})).reason,
                StartsWith("rank 1 ended with exit status 7"));
}

TEST(Verdict, AmongEqualsBlamesTheEarliest) {
    EXPECT_THAT(
        judge(failure({saying(rank(0, exited(1), 5), 4.9, "b"), saying(rank(1, exited(1), 6), 4.8, "a")}))
            .reason,
        StartsWith("rank 1 "));
    EXPECT_THAT(judge(failure({rank(0, killed(SIGBUS), 5), rank(1, killed(SIGKILL), 4)})).reason,
                StartsWith("rank 1 "));
    EXPECT_THAT(judge(failure({saying(rank(0, exited(1), 5), 4, "odd"), rank(1, killed(SIGSEGV), 6)})).reason,
                StartsWith("rank 1 "));
}

TEST(Verdict, WhereEveryRankLostAPeerStillNamesOne) {
    EXPECT_THAT(
        judge(failure({saying(rank(0, exited(1)), 5, kLost), saying(rank(1, exited(1)), 4, kLost)})).reason,
        StartsWith("rank 1 ended with exit status 1: waiting for keys"));
}

TEST(Verdict, CallsOutOfMemoryByName) {
    Ending ending = failure({ours(0), rank(1, killed(SIGKILL))});
    ending.kernel_killed_for_memory = true;
    EXPECT_EQ(judge(ending).reason, "rank 1 was killed by signal 9 (Killed): out of memory");
    EXPECT_EQ(judge(failure({saying(rank(0, exited(1)), 5, "std::bad_alloc")})).reason,
              "rank 0 ended with exit status 1: out of memory: std::bad_alloc");
    EXPECT_EQ(
        judge(failure({saying(rank(0, exited(1)), 5, "CUDA out of memory. Tried to allocate 2 GiB")})).reason,
        "rank 0 ended with exit status 1: CUDA out of memory. Tried to allocate 2 GiB");
    RankEnd aborted = rank(0, killed(SIGABRT));
    aborted.record.last_log_lines = {"terminate called after throwing an instance of 'std::bad_alloc'"};
    EXPECT_THAT(judge(failure({aborted})).reason,
                StartsWith("rank 0 was killed by signal 6 (Aborted): out of memory;"));
}

TEST(Verdict, DoesNotBlameMemoryForAnotherDeath) {
    Ending ending = failure({rank(0, killed(SIGSEGV)), ours(1)});
    ending.kernel_killed_for_memory = true;
    EXPECT_THAT(judge(ending).reason, Not(HasSubstr("memory")));
}

TEST(Verdict, SaysThatTheDiskIsFullWhereTheRankCouldNot) {
    Ending ending = failure({rank(0, exited(1)), ours(1)});
    ending.disk_full = true;
    EXPECT_THAT(judge(ending).reason, HasSubstr("the disk of the run directory is full"));
}

TEST(Verdict, IsCompletedOnlyByRankZerosWord) {
    Ending ending;
    ending.ranks = {done(rank(0, 0), 20, "completed"), rank(1, 0)};
    EXPECT_EQ(judge(ending).state, RunPhase::Completed);
    EXPECT_EQ(judge(ending).reason, "completed after step 20");
    ending.ranks = {rank(0, 0), done(rank(1, 0), 20, "completed")};
    EXPECT_EQ(judge(ending).state, RunPhase::Failed);
    EXPECT_THAT(judge(ending).reason,
                HasSubstr("exit status 0, but rank 0 did not report that training is done"));
    ending.ranks = {done(rank(0, 0), 20, "completed"), rank(1, exited(1))};
    EXPECT_EQ(judge(ending).state, RunPhase::Failed);
}

TEST(Verdict, OfAStopSaysWhereItIsSaved) {
    Ending ending;
    ending.stop_requested = true;
    ending.ranks = {done(rank(0, 0), 12, "stopped"), done(rank(1, 0), 12, "stopped")};
    ending.ranks[0].record.checkpoint = CheckpointEvent{12, "checkpoints/step-00000012", 0.1};
    EXPECT_EQ(judge(ending).state, RunPhase::Stopped);
    EXPECT_EQ(judge(ending).reason, "stopped by request after step 12; saved in checkpoints/step-00000012");
}

TEST(Verdict, OfAStopNowSaysWhatIsLost) {
    Ending ending;
    ending.trigger = Trigger::StopNow;
    ending.ranks = {ours(0), ours(1)};
    EXPECT_EQ(judge(ending).state, RunPhase::Stopped);
    EXPECT_EQ(judge(ending).reason,
              "stopped at once by request before the first step; no checkpoint was saved");
    RankRecord& first = ending.ranks[0].record;
    first.step = 12;
    EXPECT_EQ(judge(ending).reason,
              "stopped at once by request after step 12, which was not saved; no checkpoint was saved");
    first.start_step = 8;
    EXPECT_EQ(
        judge(ending).reason,
        "stopped at once by request after step 12, which was not saved; the last checkpoint is of step 8");
    first.checkpoint = CheckpointEvent{12, "", 0};
    EXPECT_EQ(judge(ending).reason, "stopped at once by request after step 12, which is saved");
    first.done = DoneEvent{20, "completed"};
    EXPECT_EQ(judge(ending).state, RunPhase::Completed);
}

TEST(Verdict, OfAStopBeforeARankCouldSaveIsNoFailure) {
    Ending ending;
    ending.trigger = Trigger::StopTooEarly;
    ending.stop_requested = true;
    ending.ranks = {saying(rank(0, exited(1)), 5, kLost), rank(1, killed(SIGTERM))};
    EXPECT_EQ(judge(ending).state, RunPhase::Stopped);
    EXPECT_THAT(judge(ending).reason, StartsWith("stopped by request before the first step"));
}

TEST(Verdict, OfADeathByAForeignSigtermIsAFailure) {
    EXPECT_EQ(judge(failure({rank(0, killed(SIGTERM)), ours(1)})).reason,
              "rank 0 was killed by signal 15 (Terminated)");
}

TEST(Verdict, MentionsARankThatTheSystemDoesNotLetEnd) {
    Ending ending = failure({rank(0, exited(1)), ours(1)});
    ending.ranks[1].unkillable = true;
    EXPECT_THAT(judge(ending).reason, HasSubstr("\nrank 1 has not ended yet"));
}

}  // namespace
}  // namespace ringmaster
