#include "launcher/history/diagnosis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "launcher/history/figures.h"

namespace ringmaster {

namespace {

constexpr double kNow = 10'000;

/// Returns evidence of ranks that train evenly, with 1 s per step, of which 0.1 s is waiting. Their last
/// events are recent.
Evidence healthy(int ranks = 4, int64_t steps = 100) {
    Evidence run;
    run.state.state = RunPhase::Running;
    run.state.ranks = ranks;
    run.state.writer = this_process();
    run.now = kNow;
    run.total_steps = 1000;
    for (int rank = 0; rank < ranks; ++rank) {
        RankEvidence& of_rank = run.ranks.emplace_back();
        of_rank.rank = rank;
        of_rank.host = "node-" + std::to_string(rank);
        of_rank.phase = "train";
        of_rank.last_heard = kNow - 1;
        for (int64_t step = 1; step <= steps; ++step) {
            StepEvent event;
            event.step = step;
            event.loss = 3 + 0.01 * static_cast<double>(step % 5);
            event.tokens = 1000;
            event.step_s = 1;
            event.exposed_comm_s = 0.1;
            event.compute_s = 0.9;
            event.peak_memory_bytes = 60LL << 30;
            of_rank.recent.push_back({kNow - 1 - static_cast<double>(steps - step), event});
        }
    }
    return run;
}

void slow_down(Evidence& run, int culprit, double waited, int64_t from = 1) {
    for (RankEvidence& rank : run.ranks) {
        for (TimedStep& step : rank.recent) {
            if (step.event.step < from) continue;
            step.event.exposed_comm_s = rank.rank == culprit ? 0.02 : 0.02 + waited;
            step.event.compute_s = 1 - step.event.exposed_comm_s;
        }
    }
}

TEST(Diagnosis, AnEvenRunIsWell) {
    const Diagnosis found = diagnose(healthy());
    EXPECT_EQ(found.finding, Finding::RunningWell);
    EXPECT_EQ(found.urgency, Urgency::Good);
    EXPECT_NEAR(found.share, 0.1, 1e-9);
    EXPECT_NEAR(found.seconds, 900, 1e-9);
}

TEST(Diagnosis, TheStragglerIsTheRankThatWaitsLeast) {
    Evidence run = healthy();
    slow_down(run, 2, 0.25, 61);
    const Diagnosis found = diagnose(run);
    EXPECT_EQ(found.finding, Finding::Straggler);
    EXPECT_EQ(found.urgency, Urgency::Critical);
    EXPECT_EQ(found.rank, 2);
    EXPECT_EQ(found.host, "node-2");
    EXPECT_EQ(found.step, 61);
    EXPECT_NEAR(found.share, 0.25, 1e-9);
}

TEST(Diagnosis, TheStragglersBeginIsFollowedBeyondTheRecentSteps) {
    Evidence run = healthy(2, 300);
    slow_down(run, 1, 0.25, 42);
    std::vector<StepColumns> all(2);
    for (size_t rank = 0; rank < 2; ++rank) {
        auto& recent = run.ranks[rank].recent;
        for (const TimedStep& step : recent) all[rank].put(step.t, step.event);
        recent.erase(recent.begin(), recent.end() - 100);
    }
    EXPECT_EQ(diagnose(run).step, 201);
    EXPECT_THAT(text_of(diagnose(run)).why, testing::HasSubstr("since step 201 or earlier"));
    for (size_t rank = 0; rank < 2; ++rank) run.ranks[rank].steps = &all[rank];
    EXPECT_EQ(diagnose(run).step, 42);
    EXPECT_THAT(text_of(diagnose(run)).why, testing::HasSubstr("since step 42."));
    for (RankEvidence& rank : run.ranks) rank.start_step = 100;
    EXPECT_EQ(diagnose(run).step, 101) << "an attempt's first step";
    EXPECT_FALSE(diagnose(run).may_be_earlier);
}

TEST(Diagnosis, TheShareIsThatOfTheHeadline) {
    Evidence run = healthy();
    for (RankEvidence& rank : run.ranks)
        for (TimedStep& step : rank.recent)
            if (step.event.step > 100 - kRecentSteps) step.event.exposed_comm_s = 0.2;
    EXPECT_NEAR(diagnose(run).share, 0.2, 1e-9);
}

TEST(Diagnosis, SmallDifferencesAreSilentAndMiddlingOnesWarn) {
    Evidence run = healthy();
    slow_down(run, 1, 0.09);
    EXPECT_EQ(diagnose(run).finding, Finding::RunningWell);
    slow_down(run, 1, 0.15);
    EXPECT_EQ(diagnose(run).finding, Finding::Straggler);
    EXPECT_EQ(diagnose(run).urgency, Urgency::Warning);
}

TEST(Diagnosis, TheStragglerRuleWaitsFor20StepsAndForEveryFigure) {
    Evidence early = healthy(4, 19);
    slow_down(early, 1, 0.3);
    EXPECT_FALSE(find_straggler(early.ranks));
    Evidence unknown = healthy();
    slow_down(unknown, 1, 0.3);
    for (TimedStep& step : unknown.ranks[3].recent) step.event.exposed_comm_s = std::nan("");
    EXPECT_FALSE(find_straggler(unknown.ranks)) << "not known is not 0";
    EXPECT_FALSE(find_straggler(healthy(1).ranks));
}

TEST(Diagnosis, AHangNamesTheRankThatHasComeLeastFar) {
    Evidence run = healthy();
    run.ranks[3].recent.pop_back();
    run.now = kNow + 59;
    EXPECT_NE(diagnose(run).finding, Finding::Hanging);
    run.now = kNow + 90;
    const Diagnosis found = diagnose(run);
    EXPECT_EQ(found.finding, Finding::Hanging);
    EXPECT_EQ(found.rank, 3);
    EXPECT_EQ(found.step, 99);
    EXPECT_GT(found.seconds, 89);
}

TEST(Diagnosis, AHangNamesNoRankIfNoneIsBehind) {
    Evidence run = healthy();
    run.now = kNow + 90;
    EXPECT_EQ(diagnose(run).finding, Finding::Hanging);
    EXPECT_FALSE(diagnose(run).rank);
    EXPECT_EQ(diagnose(run).step, 100);
    run.ranks[2].last_heard -= 5;
    EXPECT_EQ(diagnose(run).rank, 2) << "it alone has been silent longest";
    run.ranks[1].last_heard -= 5;
    EXPECT_FALSE(diagnose(run).rank);
}

TEST(Diagnosis, SlowStepsAreNoHang) {
    Evidence run = healthy();
    for (RankEvidence& rank : run.ranks) {
        for (TimedStep& step : rank.recent) step.event.step_s = 30;
    }
    run.now = kNow + 200;
    EXPECT_NE(diagnose(run).finding, Finding::Hanging);
    run.now = kNow + 320;
    EXPECT_EQ(diagnose(run).finding, Finding::Hanging);
}

TEST(Diagnosis, ALossThatIsNoNumberComesBeforeAStraggler) {
    Evidence run = healthy();
    slow_down(run, 1, 0.5);
    for (size_t i = 90; i < 100; ++i) run.ranks[0].recent[i].event.loss = std::nan("");
    run.checkpoint = 80;
    const Diagnosis found = diagnose(run);
    EXPECT_EQ(found.finding, Finding::NotANumber);
    EXPECT_EQ(found.step, 91);
    EXPECT_THAT(text_of(found).next, testing::HasSubstr("step 80"));
}

TEST(Diagnosis, AJumpOfTheLossIsToldAndItsUsualWanderingIsNot) {
    Evidence run = healthy();
    run.ranks[0].recent.back().event.loss = 3.3;
    EXPECT_EQ(diagnose(run).finding, Finding::RunningWell);
    run.ranks[0].recent.back().event.loss = 6;
    EXPECT_EQ(diagnose(run).finding, Finding::LossSpike);
    EXPECT_EQ(diagnose(run).step, 100);
}

TEST(Diagnosis, ThroughputMemoryAndOverheadAreWatched) {
    Evidence slower = healthy();
    for (RankEvidence& rank : slower.ranks) {
        for (size_t i = 88; i < 100; ++i) rank.recent[i].event.step_s = 1.5;
    }
    EXPECT_EQ(diagnose(slower).finding, Finding::ThroughputDrop);
    EXPECT_NEAR(diagnose(slower).share, 1 - 1 / 1.5, 1e-9);

    Evidence full = healthy();
    full.device_bytes = 80LL << 30;
    EXPECT_EQ(diagnose(full).finding, Finding::RunningWell);
    full.ranks[2].recent.back().event.peak_memory_bytes = 78LL << 30;
    EXPECT_EQ(diagnose(full).finding, Finding::MemoryNearlyFull);
    EXPECT_EQ(diagnose(full).rank, 2);

    Evidence waiting = healthy();
    for (RankEvidence& rank : waiting.ranks) {
        for (TimedStep& step : rank.recent) step.event.exposed_comm_s = 0.4;
    }
    waiting.layout_advice = finding(Severity::Warning, Form("CP-BATCH-RING"), "ring_attn_func", 3, {});
    waiting.layout_advice->hint = "set ring_attn_func: balanced";
    EXPECT_EQ(diagnose(waiting).finding, Finding::HighOverhead);
    EXPECT_THAT(text_of(diagnose(waiting)).next, testing::HasSubstr("balanced"));
    waiting.planned_overhead = 0.35;
    EXPECT_EQ(diagnose(waiting).finding, Finding::RunningWell) << "as planned";
}

TEST(Diagnosis, DisconnectedIsAStateAndNoFailure) {
    Evidence unreadable = healthy();
    unreadable.problem = "run.json: cannot be read";
    EXPECT_EQ(diagnose(unreadable).finding, Finding::Disconnected);
    EXPECT_EQ(diagnose(unreadable).urgency, Urgency::None);

    Evidence silent = healthy();
    silent.state.writer.host = "far-away";
    silent.now = kNow + 60;
    EXPECT_NE(diagnose(silent).finding, Finding::Disconnected);
    silent.now = kNow + 180;
    EXPECT_EQ(diagnose(silent).finding, Finding::Disconnected);
    EXPECT_NEAR(diagnose(silent).seconds, 181, 1e-9);
}

TEST(Diagnosis, AnEndSaysWhatToDoNext) {
    Evidence run = healthy();
    run.state.state = RunPhase::Failed;
    run.state.reason = "rank 1 ran out of memory\nlast lines";
    run.checkpoint = 60;
    EXPECT_EQ(diagnose(run).finding, Finding::Failed);
    EXPECT_EQ(text_of(diagnose(run)).why, "rank 1 ran out of memory");
    EXPECT_THAT(text_of(diagnose(run)).next, testing::HasSubstr("step 60"));
    run.problem = "run.json: cannot be read";
    EXPECT_EQ(diagnose(run).finding, Finding::Gone) << "files that went are said, whatever the end was";
    run.problem.clear();
    run.state.failed_rank = 1;
    run.error_rank = 0;
    EXPECT_EQ(diagnose(run).rank, 1) << "the rank that the failure began with";
    run.state.state = RunPhase::Completed;
    run.output_dir = "/models/out";
    EXPECT_THAT(text_of(diagnose(run)).why, testing::HasSubstr("/models/out"));
    EXPECT_EQ(diagnose(run).urgency, Urgency::Warning) << "its events end at step 100 of 1,000";
    EXPECT_EQ(diagnose(run).step, 100);
    run.total_steps = 100;
    EXPECT_EQ(diagnose(run).urgency, Urgency::Good);
    run.state.state = RunPhase::Stopped;
    run.checkpoint.reset();
    EXPECT_THAT(text_of(diagnose(run)).next, testing::HasSubstr("beginning"));
}

TEST(Diagnosis, BeforeTheFirstStepAndWhileStoppingNothingIsJudged) {
    Evidence run = healthy(2, 0);
    run.ranks[0].phase = "load";
    EXPECT_EQ(diagnose(run).finding, Finding::Starting);
    EXPECT_EQ(diagnose(run).text, "load");
    run.state.state = RunPhase::Queued;
    EXPECT_EQ(diagnose(run).finding, Finding::Waiting);
    run = healthy();
    run.ranks[0].phase = "export";
    EXPECT_EQ(diagnose(run).finding, Finding::Saving);
    run.state.state = RunPhase::Stopping;
    EXPECT_EQ(diagnose(run).finding, Finding::Stopping);
    run.state.state = RunPhase::Running;
    run.ranks.clear();
    EXPECT_EQ(diagnose(run).finding, Finding::Starting);
}

TEST(Diagnosis, AWaitForRolloutsBetweenStepsIsNeitherAStartNorAHang) {
    Evidence run = healthy();
    run.ranks[0].phase = "rollouts";
    run.ranks[0].last_heard = run.now = run.now + 250;
    EXPECT_EQ(diagnose(run).finding, Finding::AwaitingRollouts);
    EXPECT_FALSE(goes_on(diagnose(run).finding)) << "no time left is shown";
    run.now += 400;
    EXPECT_EQ(diagnose(run).finding, Finding::Hanging) << "rank 0 reports the wait again and again";
    EXPECT_EQ(diagnose(run).text, "rollouts");
}

TEST(Diagnosis, EveryFindingHasWords) {
    for (int finding = 0; finding <= static_cast<int>(Finding::Failed); ++finding)
        EXPECT_FALSE(text_of({static_cast<Finding>(finding), Urgency::None}).verdict.empty()) << finding;
}

}  // namespace

}  // namespace ringmaster
