#include "launcher/history/export.h"

#include <tuple>
#include <vector>

#include "engine/error.h"
#include "launcher/run/recorded_run.h"
#include "tests/launcher/run_fixture.h"

namespace ringmaster {

namespace {

using ExportTest = RunFixture;

/// Returns (rank, step, loss) in the order of the visits.
std::vector<std::tuple<int, int64_t, double>> visited(const RunDirectory& run, size_t most_held) {
    std::vector<std::tuple<int, int64_t, double>> steps;
    for_each_step(
        run, recorded_ranks(run),
        [&](int rank, const Timed<StepEvent>& step) {
            steps.emplace_back(rank, step.event.step, step.event.loss);
        },
        most_held);
    return steps;
}

TEST_F(ExportTest, StepsComeInOrderAndTheLaterLineCountsHoweverFewAreHeld) {
    const RunDirectory run = make_run("a");
    for (const int rank : {0, 1}) {
        EventWriter events(run.events(), rank);
        for (const int step : {1, 2, 3, 4, 5, 3, 4}) events.write(step_event(step, 10 * rank + step));
        events.write(step_event(4, 40 + rank));
    }
    const std::vector<std::tuple<int, int64_t, double>> wanted = {
        {0, 1, 1},  {1, 1, 11}, {0, 2, 2},  {1, 2, 12}, {0, 3, 3},
        {1, 3, 13}, {0, 4, 40}, {1, 4, 41}, {0, 5, 5},  {1, 5, 15}};
    for (const size_t most_held : {1, 2, 3, 9, 10, 11, 1000})
        EXPECT_EQ(visited(run, most_held), wanted) << most_held;
}

TEST_F(ExportTest, RefusesWhereItWouldMixWithOtherFiles) {
    const RunDirectory run = make_run("a");
    EventWriter(run.events(), 0).write(step_event(1, 2));
    write(dir_ / "board/notes.txt", "x");
    EXPECT_THROW(export_tensorboard(run, dir_ / "board"), Error);
    EXPECT_THROW(export_csv(run, dir_ / "board"), Error) << "a folder is no file";
    EXPECT_EQ(export_tensorboard(run, dir_ / "new").points, export_tensorboard(run, dir_ / "new").points)
        << "twice is once";
}

TEST_F(ExportTest, ARunWithoutEventsSaysSo) {
    try {
        export_csv(make_run("empty"), dir_ / "x.csv");
        FAIL();
    } catch (const Error& problem) {
        EXPECT_THAT(problem.text(), testing::HasSubstr("no events"));
    }
}

}  // namespace

}  // namespace ringmaster
