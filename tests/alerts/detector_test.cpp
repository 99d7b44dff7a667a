#include "launcher/alerts/detector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <random>

#include "engine/events/event_log.h"

namespace ringmaster {

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr double kBegan = 1.7e9;

/// Describes a run whose ranks are equally fast and whose loss falls as a power of the step. `change` adds
/// faults.
struct Curve {
    int ranks = 4;
    int64_t steps = 2000;
    double noise = 0.02;  ///< standard deviation of the loss, as a fraction of the loss
    double tail = 0;      ///< degrees of freedom of Student's t noise; 0: normal noise
    double step_s = 0.5;
    unsigned seed = 1;
    std::function<void(RankStep&)> change = [](RankStep&) {};
};

/// Returns the alerts of a run in order.
std::vector<Alert> alerts_of(const Curve& curve) {
    std::mt19937 random(curve.seed);
    std::normal_distribution<double> normal;
    std::student_t_distribution<double> heavy(curve.tail > 0 ? curve.tail : 1);
    AlertDetector detector(curve.ranks);
    double t = kBegan;
    for (int64_t step = 1; step <= curve.steps; ++step) {
        const double at = static_cast<double>(step), draw = curve.tail > 0 ? heavy(random) : normal(random);
        const double loss = 4 * std::pow(at + 20, -0.15) * (1 + curve.noise * draw);
        t += curve.step_s * (1 + 0.05 * std::abs(normal(random)));
        for (int rank = 0; rank < curve.ranks; ++rank) {
            const double wait = 0.06 * curve.step_s * (1 + 0.3 * std::abs(normal(random)));
            RankStep one{rank, step, t, loss, 1e-4, curve.step_s, wait};
            curve.change(one);
            detector.step(one);
        }
    }
    return detector.take_alerts();
}

/// Returns the steps of the app's example, as one run recorded them on two CPU cores: two ranks, 240 steps.
std::vector<std::array<RankStep, 2>> example_run() {
    std::ifstream file(RINGMASTER_EXAMPLE_RUN);
    std::vector<std::array<RankStep, 2>> steps;
    std::string line;
    for (std::getline(file, line); std::getline(file, line);) {
        std::array<RankStep, 2> both;
        RankStep& first = both[0];
        RankStep& second = both[1];
        if (std::sscanf(line.c_str(), "%ld,%lf,%lf,%lf,%lf,%lf,%lf,%lf", &first.step, &first.t, &first.loss,
                        &first.lr, &first.step_s, &first.wait_s, &second.step_s, &second.wait_s) != 8)
            continue;
        first.t += kBegan;
        second = {1, first.step, first.t, first.loss, first.lr, second.step_s, second.wait_s};
        steps.push_back(both);
    }
    return steps;
}

std::vector<Alert> alerts_of_example(const std::function<void(RankStep&)>& change) {
    AlertDetector detector(2);
    for (std::array<RankStep, 2> both : example_run()) {
        for (RankStep& one : both) {
            change(one);
            detector.step(one);
        }
    }
    return detector.take_alerts();
}

std::vector<std::string> names_of(const std::vector<Alert>& alerts) {
    std::vector<std::string> names;
    for (const Alert& alert : alerts) names.emplace_back(to_string(alert.kind));
    return names;
}

TEST(AlertDetector, FindsNothingInAnEvenRun) {
    EXPECT_THAT(names_of(alerts_of({})), IsEmpty());
}

TEST(AlertDetector, FindsNothingInTheExamplesRun) {
    ASSERT_EQ(example_run().size(), 240U);
    EXPECT_THAT(names_of(alerts_of_example([](RankStep&) {})), IsEmpty());
}

TEST(AlertDetector, FindsEachFaultInTheExamplesRun) {
    for (int64_t at = 60; at <= 200; at += 20) {
        // The example trains on few tokens per step, so its loss varies by a tenth from step to step.
        const auto spike = [at](RankStep& one) { one.loss *= one.step == at ? 3 : 1; };
        const auto rise = [at](RankStep& one) { one.loss *= one.step >= at && one.step < at + 5 ? 2 : 1; };
        const auto nan = [at](RankStep& one) { one.loss = one.step >= at ? std::nan("") : one.loss; };
        const auto stall = [at](RankStep& one) { one.t += one.step >= at ? 120 : 0; };
        EXPECT_THAT(names_of(alerts_of_example(spike)), ElementsAre("spike")) << at;
        EXPECT_THAT(names_of(alerts_of_example(rise)), ElementsAre("spike")) << at;
        EXPECT_THAT(names_of(alerts_of_example(nan)), ElementsAre("nan")) << at;
        EXPECT_THAT(names_of(alerts_of_example(stall)), ElementsAre("stall")) << at;
        for (int slow = 0; slow < 2; ++slow) {
            // The slow rank takes a third longer, so the other one waits for it.
            const auto straggle = [at, slow](RankStep& one) {
                if (one.step < at) return;
                if (one.rank != slow) one.wait_s += one.step_s / 3;
                one.step_s *= 4.0 / 3;
            };
            const std::vector<Alert> found = alerts_of_example(straggle);
            ASSERT_THAT(names_of(found), ElementsAre("slow_rank")) << at;
            EXPECT_EQ(found[0].rank, slow);
        }
    }
}

TEST(AlertDetector, FindsNothingInNoise) {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        for (const double noise : {0.0, 0.01, 0.05, 0.1, 0.2, 0.3})
            EXPECT_THAT(names_of(alerts_of({.noise = noise, .seed = seed})), IsEmpty())
                << "noise " << noise << ", seed " << seed;
    }
}

TEST(AlertDetector, FindsAlmostNothingInHeavyTails) {
    // Student's t with 4 degrees of freedom: in 40,000 steps some losses are 60 % too high by chance.
    size_t found = 0;
    for (unsigned seed = 1; seed <= 20; ++seed)
        found += alerts_of({.noise = 0.04, .tail = 4, .seed = seed}).size();
    EXPECT_LE(found, 4U);
}

TEST(AlertDetector, FindsNothingInUnevenSteps) {
    // In each step a different rank waits for the shortest time, as with documents of uneven length.
    const auto uneven = [](RankStep& one) {
        if (one.step % 4 == one.rank) one.wait_s = 0;
        one.wait_s += 0.2 * one.step_s;
    };
    EXPECT_THAT(names_of(alerts_of({.change = uneven})), IsEmpty());
}

TEST(AlertDetector, FindsASpikeOnce) {
    const auto spike = [](RankStep& one) { one.loss *= one.step >= 700 && one.step < 712 ? 2.5 : 1; };
    const std::vector<Alert> found = alerts_of({.change = spike});
    ASSERT_THAT(names_of(found), ElementsAre("spike"));
    EXPECT_EQ(found[0].step, 700);
    EXPECT_NEAR(found[0].value / found[0].usual, 2.5, 0.3);
}

TEST(AlertDetector, FindsASpikeOfTwoStepsThatIsLessHigh) {
    const auto spike = [](RankStep& one) { one.loss *= one.step == 700 || one.step == 702 ? 1.4 : 1; };
    EXPECT_THAT(names_of(alerts_of({.change = spike})), ElementsAre("spike"));
    const auto single = [](RankStep& one) { one.loss *= one.step == 700 ? 1.4 : 1; };
    EXPECT_THAT(names_of(alerts_of({.change = single})), IsEmpty());
}

TEST(AlertDetector, RepeatsASpikeOnlyAfterTheCoolDown) {
    const auto spikes = [](RankStep& one) { one.loss *= one.step > 200 && one.step % 40 == 0 ? 3 : 1; };
    // The 1,800 steps with spikes last 15 minutes, so the cool-down allows two alerts.
    EXPECT_THAT(names_of(alerts_of({.change = spikes})), ElementsAre("spike", "spike"));
}

TEST(AlertDetector, FindsWhatIsNotANumberOnce) {
    const auto broken = [](RankStep& one) { one.loss = one.step >= 50 ? std::nan("") : one.loss; };
    const std::vector<Alert> found = alerts_of({.change = broken});
    ASSERT_THAT(names_of(found), ElementsAre("nan"));
    EXPECT_EQ(found[0].step, 50);
    const auto infinite = [](RankStep& one) { one.loss = one.step == 3 ? HUGE_VAL : one.loss; };
    EXPECT_THAT(names_of(alerts_of({.change = infinite})), ElementsAre("nan"));
}

TEST(AlertDetector, NamesTheSlowRank) {
    for (int slow = 0; slow < 4; ++slow) {
        const auto straggle = [slow](RankStep& one) {
            if (one.step >= 500) one.wait_s = one.rank == slow ? 0.01 : 0.15;
        };
        const std::vector<Alert> found = alerts_of({.change = straggle});
        ASSERT_THAT(names_of(found), ElementsAre("slow_rank")) << slow;
        EXPECT_EQ(found[0].rank, slow);
        EXPECT_THAT(found[0].step, testing::AllOf(testing::Ge(510), testing::Le(540)));
        EXPECT_NEAR(found[0].value, 0.28, 0.02);
        EXPECT_THAT(text_of(found[0]),
                    testing::ContainsRegex(": the others wait 2[6-9] % of a step for it\\.$"));
    }
}

TEST(AlertDetector, ElevenSlowStepsAreNoSlowRank) {
    const auto straggle = [](RankStep& one) {
        if (one.step >= 504 && one.step <= 514) one.wait_s = one.rank == 1 ? 0.01 : 0.15;
    };
    EXPECT_THAT(names_of(alerts_of({.change = straggle})), IsEmpty());
}

TEST(AlertDetector, NamesAnotherSlowRankAtOnce) {
    const auto straggle = [](RankStep& one) {
        const int slow = one.step < 600 ? 1 : 3;
        if (one.step >= 500) one.wait_s = one.rank == slow ? 0.01 : 0.15;
    };
    const std::vector<Alert> found = alerts_of({.change = straggle});
    ASSERT_THAT(names_of(found), ElementsAre("slow_rank", "slow_rank"));
    EXPECT_EQ(found[0].rank, 1);
    EXPECT_EQ(found[1].rank, 3);
}

TEST(AlertDetector, FindsAPlateau) {
    const auto flat = [](RankStep& one) {
        one.loss = 2 + 0.02 * std::sin(static_cast<double>(one.step * 7));
    };
    const std::vector<Alert> found = alerts_of({.steps = 6000, .change = flat});
    ASSERT_THAT(names_of(found), ElementsAre("plateau"));
    EXPECT_EQ(found[0].step, 1000);
    EXPECT_EQ(found[0].steps, 500);
}

TEST(AlertDetector, FindsAPlateauInNoiseLater) {
    std::mt19937 random(3);
    std::normal_distribution<double> normal;
    const auto flat = [&](RankStep& one) { one.loss = 2 * (1 + 0.08 * normal(random)); };
    const std::vector<Alert> found = alerts_of({.ranks = 1, .steps = 20'000, .change = flat});
    ASSERT_THAT(names_of(found), ElementsAre("plateau"));
}

TEST(AlertDetector, FindsNoPlateauOnceTheLearningRateIsLow) {
    const auto cooled = [](RankStep& one) {
        one.lr = one.step < 900 ? 1e-4 : 1e-5;
        one.loss = 2 - 5e-4 * static_cast<double>(std::min<int64_t>(one.step, 900));
    };
    EXPECT_THAT(names_of(alerts_of({.steps = 6000, .change = cooled})), IsEmpty());
}

TEST(AlertDetector, FindsAStallBetweenTwoSteps) {
    const auto late = [](RankStep& one) { one.t += one.step >= 300 ? 90 : 0; };
    const std::vector<Alert> found = alerts_of({.change = late});
    ASSERT_THAT(names_of(found), ElementsAre("stall"));
    EXPECT_EQ(found[0].step, 299);
    EXPECT_NEAR(found[0].value, 90, 2);
}

TEST(AlertDetector, AnEvaluationIsNoStall) {
    AlertDetector detector(1);
    const auto train = [&](int64_t step, double t) {
        StepEvent event;
        event.step = step;
        event.loss = 2;
        event.step_s = 0.5;
        detector.take({t, 0, event});
    };
    for (int64_t step = 1; step <= 100; ++step) train(step, kBegan + 0.5 * static_cast<double>(step));
    detector.take({kBegan + 51, 0, PhaseEvent{"eval", 0, 1}});
    detector.look(kBegan + 800);
    detector.take({kBegan + 900, 0, EvalEvent{100, 2, 1}});
    train(101, kBegan + 902);
    EXPECT_THAT(names_of(detector.take_alerts()), IsEmpty());
    detector.look(kBegan + 950);
    EXPECT_THAT(names_of(detector.take_alerts()), IsEmpty());
    detector.look(kBegan + 963);
    detector.look(kBegan + 990);
    EXPECT_THAT(names_of(detector.take_alerts()), ElementsAre("stall"));
}

TEST(AlertDetector, AStallNamesTheRankThatIsBehind) {
    AlertDetector detector(3);
    for (int64_t step = 1; step <= 30; ++step) {
        for (int rank = 0; rank < 3; ++rank) {
            if (step == 30 && rank == 2) continue;
            detector.step({rank, step, kBegan + static_cast<double>(step), 2, 1e-4, 1, 0.1});
        }
    }
    detector.look(kBegan + 200);
    const std::vector<Alert> found = detector.take_alerts();
    ASSERT_THAT(names_of(found), ElementsAre("stall"));
    EXPECT_EQ(found[0].rank, 2);
    EXPECT_EQ(found[0].step, 30);
    EXPECT_EQ(text_of(found[0]), "Nothing was heard for 170 s after step 30; rank 2 is behind.");
}

TEST(AlertDetector, AResumeGoesBackToItsStep) {
    AlertDetector detector(1);
    const auto train = [&](int64_t from, int64_t to, double began) {
        for (int64_t step = from; step <= to; ++step)
            detector.step(
                {0, step, began + static_cast<double>(step), step == 150 ? 9.0 : 2.0, 1e-4, 1, 0.1});
    };
    train(1, 160, kBegan);
    EXPECT_THAT(names_of(detector.take_alerts()), ElementsAre("spike"));
    HelloEvent hello;
    hello.attempt = 2;
    hello.start_step = 120;
    detector.take({kBegan + 2000, 0, hello});
    train(121, 160, kBegan + 2000);
    EXPECT_THAT(names_of(detector.take_alerts()), IsEmpty());  // step 150's spike is reported once
    train(161, 170, kBegan + 2000);
    detector.step({0, 300, kBegan + 2400, 9, 1e-4, 1, 0.1});
    EXPECT_THAT(names_of(detector.take_alerts()), testing::Contains("spike"));
}

TEST(AlertDetector, HostileEventsCostLittleAndRaiseFewAlerts) {
    AlertDetector detector(4);
    std::mt19937_64 random(7);
    for (int i = 0; i < 200'000; ++i) {
        const auto step = static_cast<int64_t>(random() % 1'000'000'000);
        const double odd = i % 3 == 0 ? std::nan("") : std::bit_cast<double>(random());
        detector.step({static_cast<int>(random() % 8) - 2, step, odd, odd, odd, odd, odd});
        if (i % 1000 == 0) detector.begin(static_cast<int64_t>(random() >> 1), odd);
        detector.look(odd);
    }
    EXPECT_LE(detector.take_alerts().size(), 200U);
}

TEST(AlertDetector, TextsAreOfNumbersOnlyAndJsonIsWhole) {
    const Alert spike{AlertKind::Spike, kBegan, 12, std::nullopt, 5.25, 2};
    EXPECT_EQ(text_of(spike), "The loss jumped at step 12: 5.25, usually 2.");
    for (const AlertKind kind : kAlertKinds) {
        EXPECT_EQ(alert_kind(to_string(kind)), kind);
        EXPECT_THAT(text_of({kind, kBegan, 3, 1, 0.5, 2, 20}), testing::MatchesRegex("[A-Z][^\n]*\\."));
    }
    EXPECT_EQ(alert_kind("other"), std::nullopt);
}

}  // namespace

}  // namespace ringmaster
