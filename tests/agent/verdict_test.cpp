#include "launcher/agent/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "engine/error.h"

namespace ringmaster {
namespace {

using testing::Contains;
using testing::Not;

// Packs an exit status into a wait status as the kernel does (wait(2)).
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

/// Returns `end` with an error event of this cause. The event's text is meaningless, so only the cause can
/// decide the verdict.
RankEnd failing_by(RankEnd end, double t, std::string_view cause) {
    end = saying(std::move(end), t, "xyz");
    end.record.error->cause = cause;
    return end;
}

/// Returns a rank that reports a lost peer.
RankEnd lost_a_peer(int number, double t, double end_t = 100) {
    return failing_by(rank(number, exited(1), end_t), t, cause::kPeerLost);
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

ReasonPart part(const std::string& code) {
    return {code};
}

TEST(Verdict, NamesTheStoppedRankBeforeThoseThatLostItOrTheirNode) {
    RankEnd stopped = ours(2);
    stopped.stopped = "SIGSTOP";
    stopped.place = {{"is-at-work"}, {"in-hop", {"1", "2"}}};
    Ending ending = failure({lost_a_peer(0, 90), ours(1), stopped});
    ending.lost_node = ReasonPart{"node-gone", {"1"}};
    const RunVerdict verdict = judge(ending);
    EXPECT_EQ(verdict.state, RunPhase::Failed);
    EXPECT_EQ(verdict.code, "RANK-STOPPED");
    EXPECT_EQ(verdict.failed_rank, 2);
    EXPECT_EQ(verdict.why, (Reason{{"rank-stopped", {"2", "SIGSTOP", "10"}},
                                   {"and-it"},
                                   {"is-at-work"},
                                   {"in-hop", {"1", "2"}},
                                   {"no-checkpoint"},
                                   {"place-of-rank", {"2"}},
                                   {"is-at-work"},
                                   {"in-hop", {"1", "2"}}}));
}

TEST(Verdict, NamesTheLostNodeBeforeTheRanksThatOnlyLostIt) {
    Ending ending = failure({lost_a_peer(0, 90), ours(1)});
    ending.lost_node = ReasonPart{"node-gone", {"1"}};
    EXPECT_EQ(judge(ending).code, "NODE-LOST");
    EXPECT_EQ(judge(ending).why, (Reason{{"node-gone", {"1"}}, {"no-checkpoint"}}));
    ending.ranks[0].record.error->cause.clear();
    EXPECT_NE(judge(ending).code, "NODE-LOST") << "rank 0 failed for a reason of its own";
}

TEST(Verdict, NamesTheRankAndTheSignalThatKilledIt) {
    const RunVerdict verdict = judge(failure({ours(0), rank(1, killed(SIGKILL))}));
    EXPECT_EQ(verdict.state, RunPhase::Failed);
    EXPECT_EQ(verdict.why, (Reason{{"rank-signal", {"1", "9", "Killed"}}}));
    EXPECT_EQ(verdict.failed_rank, 1) << "the rank that the app's button opens";
}

TEST(Verdict, IsInWords) {
    EXPECT_EQ(english(judge(failure({ours(0), rank(1, killed(SIGKILL))})).why),
              "rank 1 was killed by signal 9 (Killed)");
}

TEST(Verdict, NamesTheExitStatusWithTheErrorEvent) {
    const auto verdict =
        judge(failure({saying(rank(0, exited(1)), 5, "the loss is nan", "step 7"), ours(1)}));
    EXPECT_EQ(verdict.why, (Reason{{"rank-status", {"0", "1"}}, {"error", {"step 7: the loss is nan"}}}));
}

TEST(Verdict, ShowsTheEndOfTheLogWhereTheRankSaidNothing) {
    RankEnd mute = rank(2, killed(SIGSEGV));
    mute.record.last_log_lines = {"one", "two"};
    EXPECT_EQ(judge(failure({ours(0), ours(1), mute})).why,
              (Reason{{"rank-signal", {"2", "11", "Segmentation fault"}}, {"log-end", {"\n  one\n  two"}}}));
}

TEST(Verdict, BlamesTheRankThatFailedNotThoseThatLostIt) {
    const RankEnd lost = lost_a_peer(0, 100.05, 100.1);
    EXPECT_EQ(judge(failure({lost, rank(1, killed(SIGKILL), 100.2)})).failed_rank, 1);
    EXPECT_EQ(
        judge(failure({lost, saying(rank(1, exited(1), 100.3), 100.2, "the disk is full")})).failed_rank, 1);
    RankEnd aborted = rank(0, killed(SIGABRT), 99);
    aborted.record.last_log_lines = {"terminate called", "  what():  Connection reset by peer"};
    EXPECT_EQ(judge(failure({aborted, rank(1, exited(7), 100)})).failed_rank, 1);
}

TEST(Verdict, DoesNotReadTheWordsOfAnErrorEvent) {
    for (const char* words : {"Connection reset by peer", "nothing came for 120 s", "given up",
                              "lost rank 0's store", "CUDA out of memory"}) {
        const RunVerdict verdict = judge(
            failure({saying(rank(0, exited(1)), 4, words), saying(rank(1, exited(1)), 5, "xyz"), ours(2)}));
        EXPECT_EQ(verdict.failed_rank, 0) << words;
        EXPECT_EQ(verdict.code, "RANK-FAILED") << words;
        EXPECT_EQ(verdict.why.size(), 2U) << words;
    }
}

TEST(Verdict, NamesTheRanksThatKeptAnotherWaitingInVain) {
    RankEnd at_work = ours(1);
    at_work.place = {{"in-layer", {"4"}}};
    const Reason why = judge(failure({failing_by(rank(0, exited(1)), 5, cause::kTimeout), at_work})).why;
    EXPECT_EQ(Reason(why.end() - 4, why.end()), (Reason{{"rank-kept-waiting", {"1"}},
                                                        {"in-layer", {"4"}},
                                                        {"place-of-rank", {"1"}},
                                                        {"in-layer", {"4"}}}));
    EXPECT_THAT(judge(failure({lost_a_peer(0, 5), at_work})).why.back(), ReasonPart({"error", {"xyz"}}));
}

TEST(Verdict, AmongEqualsBlamesTheEarliest) {
    EXPECT_EQ(
        judge(failure({saying(rank(0, exited(1), 5), 4.9, "b"), saying(rank(1, exited(1), 6), 4.8, "a")}))
            .failed_rank,
        1);
    EXPECT_EQ(judge(failure({rank(0, killed(SIGBUS), 5), rank(1, killed(SIGKILL), 4)})).failed_rank, 1);
    EXPECT_EQ(
        judge(failure({saying(rank(0, exited(1), 5), 4, "odd"), rank(1, killed(SIGSEGV), 6)})).failed_rank,
        1);
}

TEST(Verdict, WhereEveryRankLostAPeerStillNamesOne) {
    EXPECT_EQ(judge(failure({lost_a_peer(0, 5), lost_a_peer(1, 4)})).failed_rank, 1);
}

TEST(Verdict, CallsOutOfMemoryByName) {
    Ending ending = failure({ours(0), rank(1, killed(SIGKILL))});
    ending.kernel_killed_for_memory = true;
    EXPECT_EQ(judge(ending).why, (Reason{{"rank-signal", {"1", "9", "Killed"}}, {"out-of-memory"}}));
    EXPECT_EQ(judge(ending).code, "ENGINE-MEMORY");
    RankEnd told = saying(rank(0, exited(1)), 5, "xyz");
    told.record.error->code = "ENGINE-MEMORY";
    EXPECT_EQ(judge(failure({told})).why, (Reason{{"rank-status", {"0", "1"}}, {"error", {"xyz"}}}))
        << "its own words say so";
    RankEnd aborted = rank(0, killed(SIGABRT));
    aborted.record.last_log_lines = {"terminate called after throwing an instance of 'std::bad_alloc'"};
    EXPECT_THAT(judge(failure({aborted})).why, Contains(part("out-of-memory")));
    EXPECT_EQ(judge(failure({aborted})).code, "ENGINE-MEMORY");
}

TEST(Verdict, DoesNotBlameMemoryForAnotherDeath) {
    Ending ending = failure({rank(0, killed(SIGSEGV)), ours(1)});
    ending.kernel_killed_for_memory = true;
    EXPECT_THAT(judge(ending).why, Not(Contains(part("out-of-memory"))));
}

TEST(Verdict, SaysThatTheDiskIsFullWhereTheRankCouldNot) {
    Ending ending = failure({rank(0, exited(1)), ours(1)});
    ending.disk_full = true;
    EXPECT_THAT(judge(ending).why, Contains(part("disk-full")));
}

TEST(Verdict, IsCompletedOnlyByRankZerosWord) {
    Ending ending;
    ending.ranks = {done(rank(0, 0), 20, "completed"), rank(1, 0)};
    EXPECT_EQ(judge(ending).state, RunPhase::Completed);
    EXPECT_EQ(judge(ending).why, (Reason{{"completed-after", {"20"}}}));
    ending.ranks = {rank(0, 0), done(rank(1, 0), 20, "completed")};
    EXPECT_EQ(judge(ending).state, RunPhase::Failed);
    EXPECT_EQ(judge(ending).why, Reason{{"not-done"}});
    ending.ranks = {done(rank(0, 0), 20, "completed"), rank(1, exited(1))};
    EXPECT_EQ(judge(ending).state, RunPhase::Failed);
}

TEST(Verdict, OfAStopSaysWhereItIsSaved) {
    Ending ending;
    ending.stop_requested = true;
    ending.ranks = {done(rank(0, 0), 12, "stopped"), done(rank(1, 0), 12, "stopped")};
    ending.ranks[0].record.checkpoint = CheckpointEvent{12, "checkpoints/step-00000012", 0.1};
    EXPECT_EQ(judge(ending).state, RunPhase::Stopped);
    EXPECT_EQ(judge(ending).why,
              (Reason{{"stopped-after", {"12"}}, {"saved-in", {"checkpoints/step-00000012"}}}));
}

TEST(Verdict, OfAStopNowSaysWhatIsLost) {
    Ending ending;
    ending.trigger = Trigger::StopNow;
    ending.ranks = {ours(0), ours(1)};
    EXPECT_EQ(judge(ending).state, RunPhase::Stopped);
    EXPECT_EQ(judge(ending).why, (Reason{{"stopped-now-begin"}, {"no-checkpoint"}}));
    RankRecord& first = ending.ranks[0].record;
    first.step = 12;
    EXPECT_EQ(judge(ending).why,
              (Reason{{"stopped-now-after", {"12"}}, {"is-not-saved"}, {"no-checkpoint"}}));
    first.start_step = 8;
    EXPECT_EQ(judge(ending).why,
              (Reason{{"stopped-now-after", {"12"}}, {"is-not-saved"}, {"last-checkpoint", {"8"}}}));
    first.checkpoint = CheckpointEvent{12, "", 0};
    EXPECT_EQ(judge(ending).why, (Reason{{"stopped-now-after", {"12"}}, {"is-saved"}}));
    first.done = DoneEvent{20, "completed"};
    EXPECT_EQ(judge(ending).state, RunPhase::Completed);
}

TEST(Verdict, OfAStopBeforeARankCouldSaveIsNoFailure) {
    Ending ending;
    ending.trigger = Trigger::StopTooEarly;
    ending.stop_requested = true;
    ending.ranks = {lost_a_peer(0, 5), rank(1, killed(SIGTERM))};
    EXPECT_EQ(judge(ending).state, RunPhase::Stopped);
    EXPECT_EQ(judge(ending).why.front(), part("stopped-begin"));
}

TEST(Verdict, OfADeathByAForeignSigtermIsAFailure) {
    EXPECT_EQ(judge(failure({rank(0, killed(SIGTERM)), ours(1)})).why,
              (Reason{{"rank-signal", {"0", "15", "Terminated"}}}));
}

TEST(Verdict, MentionsARankThatTheSystemDoesNotLetEnd) {
    Ending ending = failure({rank(0, exited(1)), ours(1)});
    ending.ranks[1].unkillable = true;
    EXPECT_EQ(judge(ending).why.back(), (ReasonPart{"rank-unkillable", {"1"}}));
}

}  // namespace
}  // namespace ringmaster
