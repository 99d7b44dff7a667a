#include "launcher/history/figures.h"

#include <QCoreApplication>
#include <QTimer>

#include "engine/error.h"
#include "engine/events/limits.h"
#include "launcher/base/log_follower.h"
#include "launcher/history/run_watch.h"
#include "tests/launcher/run_fixture.h"

namespace ringmaster {

namespace {

using FollowerTest = RunFixture;

std::string line_of(int rank, const Event& event, double t = 1) {
    return to_json_line({t, rank, event}) + "\n";
}

float loss_of(const RunHistory& history, size_t rank, int64_t step) {
    return history.ranks()[rank].steps.value(step, Measure::Loss);
}

TEST_F(FollowerTest, AHalfLineWaitsForItsRest) {
    const RunDirectory run = make_run("pieces", RunPhase::Running, 1);
    const auto file = run.events() / event_file_name(0);
    RunHistory history(run);
    EXPECT_TRUE(history.poll().empty());
    const std::string line = line_of(0, step_event(1, 3.0));
    write(file, line.substr(0, 20));
    EXPECT_TRUE(history.poll().empty());
    write(file, line.substr(20, line.size() - 21));
    EXPECT_TRUE(history.poll().empty()) << "the newline is missing";
    write(file, "\n" + line_of(0, step_event(2, 2.0)).substr(0, 5));
    EXPECT_EQ(history.poll().size(), 1U);
    EXPECT_EQ(loss_of(history, 0, 1), 3);
    EXPECT_TRUE(history.poll().empty());
}

TEST_F(FollowerTest, ALaterLineOfTheSameStepReplacesTheEarlier) {
    const RunDirectory run = make_run("resumed", RunPhase::Running, 1);
    const auto file = run.events() / event_file_name(0);
    RunHistory history(run);
    for (int step = 1; step <= 5; ++step) write(file, line_of(0, step_event(step, 10.0 + step)));
    history.poll();
    HelloEvent hello;
    hello.attempt = 2;
    hello.start_step = 3;
    write(file, line_of(0, hello) + line_of(0, step_event(4, 24)));
    history.poll();
    const RankHistory& rank = history.ranks()[0];
    EXPECT_EQ(rank.last_step, 4);
    EXPECT_EQ(loss_of(history, 0, 4), 24);
    EXPECT_EQ(loss_of(history, 0, 3), 13);
    EXPECT_EQ(loss_of(history, 0, 5), 15) << "not yet replaced";
    EXPECT_EQ(rank.steps.count(), 5);
    EXPECT_EQ(rank.hello->attempt, 2);
    EXPECT_EQ(headline(history, 10).step, 4);
}

TEST_F(FollowerTest, RanksAreMergedByTime) {
    const RunDirectory run = make_run("merged", RunPhase::Running, 3);
    write(run.events() / event_file_name(0),
          line_of(0, step_event(1, 1), 1.0) + line_of(0, step_event(2, 1), 4.0));
    write(run.events() / event_file_name(1),
          line_of(1, step_event(1, 1), 2.0) + line_of(1, step_event(2, 1), 3.0));
    RunHistory history(run);
    std::vector<std::pair<int, double>> order;
    for (const EventLine& line : history.poll()) order.emplace_back(line.rank, line.t);
    EXPECT_EQ(order, (std::vector<std::pair<int, double>>{{0, 1.0}, {1, 2.0}, {1, 3.0}, {0, 4.0}}));
    EXPECT_TRUE(history.ranks()[2].steps.empty());
}

TEST_F(FollowerTest, ARunResumedOnFewerRanksShowsOnlyThose) {
    const RunDirectory run = make_run("shrunk", RunPhase::Running, 4);
    for (int rank = 0; rank < 4; ++rank)
        write(run.events() / event_file_name(rank), line_of(rank, step_event(1, 1)));
    RunHistory history(run);
    history.poll();
    EXPECT_EQ(history.ranks().size(), 4U);
    set_state(run, RunPhase::Running, 2);
    history.poll();
    EXPECT_EQ(history.ranks().size(), 2U);
    EXPECT_EQ(history.ranks()[1].rank, 1);
}

TEST_F(FollowerTest, KeepsOnlyAboutAsManyStepsAsAskedFor) {
    const RunDirectory run = make_run("long", RunPhase::Running, 1);
    const auto add = [&](int from, int to) {
        std::string text;
        for (int step = from; step <= to; ++step) text += line_of(0, step_event(step, step));
        write(run.events() / event_file_name(0), text);
    };
    add(1, 5000);
    RunHistory history(run, 1000);
    history.poll();
    const StepColumns& steps = history.ranks()[0].steps;
    EXPECT_LE(steps.count(), 1000 + 2 * StepColumns::kBlock);
    EXPECT_GE(steps.count(), 1000);
    EXPECT_EQ(steps.last(), 5000);
    EXPECT_EQ(steps.last() - steps.first() + 1, steps.count());
    add(100, 2099);  // the run resumed from a step long before the events that are kept
    history.poll();
    EXPECT_GE(steps.count(), 1000);
    EXPECT_LE(steps.count(), 1000 + 2 * StepColumns::kBlock);
    EXPECT_EQ(loss_of(history, 0, 2099), 2099);
    EXPECT_EQ(loss_of(history, 0, 1100), 1100);
    EXPECT_EQ(history.last_step(), 2099);
}

TEST_F(FollowerTest, HeadlineTellsPaceOverheadAndWhatIsLeft) {
    const RunDirectory run = make_run("pace", RunPhase::Running, 2);
    for (int rank = 0; rank < 2; ++rank) {
        for (int step = 1; step <= 20; ++step) {
            StepEvent event = step_event(step, 2);
            event.exposed_comm_s = rank == 0 ? 0.1 : 0.2;
            write(run.events() / event_file_name(rank),
                  line_of(rank, event, 100 + 2.0 * step));  // 2 s by the clock, of which 0.5 s are steps
        }
    }
    RunHistory history(run);
    history.poll();
    const Headline now = headline(history, 30);
    EXPECT_EQ(now.step, 20);
    EXPECT_NEAR(*now.eta_s, 10 * 2.0, 1e-9);
    EXPECT_NEAR(*now.tokens_per_s, 2000, 1e-9);
    EXPECT_NEAR(*now.overhead, 0.3, 1e-6);
    EXPECT_FALSE(headline(history, std::nullopt).eta_s);
    set_state(run, RunPhase::Completed);
    history.poll();
    EXPECT_FALSE(headline(history, 30).eta_s);
}

/// A loop over step numbers would overflow after the largest step number and never end.
TEST_F(FollowerTest, TheLargestNumberOfAStepEndsNothing) {
    const RunDirectory run = make_run("last", RunPhase::Running, 1);
    const auto file = run.events() / event_file_name(0);
    StepEvent last = step_event(1, 2.0);
    for (const int64_t step : {int64_t{1}, limits::kSteps, INT64_MAX, INT64_MIN}) {
        last.step = step;
        write(file, line_of(0, last));
    }
    RunHistory history(run);
    history.poll();
    EXPECT_EQ(history.ranks()[0].steps.count(), 2);
    EXPECT_EQ(headline(history, limits::kSteps).step, limits::kSteps);
}

TEST_F(FollowerTest, OnePollReadsNoMoreThanItsShareOfManyRanks) {
    constexpr int kRanks = 40;
    const RunDirectory run = make_run("many", RunPhase::Running, kRanks);
    std::string text;
    while (text.size() < (1 << 20)) text += line_of(0, step_event(1, 2.0));
    for (int rank = 0; rank < kRanks; ++rank) write(run.events() / event_file_name(rank), text);
    RunHistory history(run);
    size_t all = 0, largest = 0;
    for (auto lines = history.poll(); !lines.empty(); lines = history.poll()) {
        all += lines.size();
        largest = std::max(largest, lines.size());
    }
    const size_t a_rank = all / kRanks;
    EXPECT_EQ(all % kRanks, 0U);
    EXPECT_LE(largest, 17 * a_rank);
}

TEST_F(FollowerTest, WithoutRunJsonThereIsNothingToFollow) {
    EXPECT_THROW(RunHistory(RunDirectory{dir_ / "nothing"}), Error);
}

TEST_F(FollowerTest, LogsComeLineByLine) {
    const auto file = dir_ / "rank.log";
    LogFollower log(file);
    EXPECT_TRUE(log.poll().empty());
    write(file, "one\ntw");
    EXPECT_EQ(log.poll(), std::vector<std::string>{"one"});
    write(file, "o\n");
    EXPECT_EQ(log.poll(), std::vector<std::string>{"two"});
    std::ofstream(file) << "x\n";
    EXPECT_EQ(log.poll(), std::vector<std::string>{"x"}) << "made anew";
    write(file, std::string(100, 'y'));
    EXPECT_EQ(log.poll(50), std::vector<std::string>{std::string(50, 'y')})
        << "a line longer than a read comes in parts";
}

TEST_F(FollowerTest, TheWatchSaysWhatCameAndWhenItIsOver) {
    int argc = 0;
    QCoreApplication application(argc, nullptr);
    const RunDirectory run = make_run("watched", RunPhase::Running, 1);
    write(run.events() / event_file_name(0), line_of(0, step_event(1, 3.0)));
    RunWatch watch(run);
    std::vector<int64_t> steps;
    QObject::connect(&watch, &RunWatch::eventsArrived, &application,
                     [&](const std::vector<EventLine>& events) {
                         for (const EventLine& line : events)
                             steps.push_back(std::get<StepEvent>(line.event).step);
                         if (steps.size() > 1) return;
                         write(run.events() / event_file_name(0), line_of(0, step_event(2, 2.0)));
                         set_state(run, RunPhase::Completed, 1);
                     });
    int changes = 0;
    QObject::connect(&watch, &RunWatch::stateChanged, &application, [&] { ++changes; });
    QObject::connect(&watch, &RunWatch::ended, &application, &QCoreApplication::quit);
    QTimer::singleShot(20'000, &application, [&] { application.exit(1); });
    EXPECT_EQ(application.exec(), 0);
    EXPECT_EQ(steps, (std::vector<int64_t>{1, 2}));
    EXPECT_EQ(changes, 1);
}

}  // namespace

}  // namespace ringmaster
