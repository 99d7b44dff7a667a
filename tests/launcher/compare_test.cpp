#include "launcher/history/compare.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "tests/launcher/run_fixture.h"

namespace ringmaster {
namespace {

class Compare : public RunFixture {
  protected:
    RunDirectory make(const std::string& name, const std::string& config, double loss, double step_s = 0.5) {
        const RunDirectory run = make_run(name);
        std::filesystem::remove(run.config());
        write(run.config(), config);
        EventWriter writer(run.events(), 0);
        for (int step = 1; step <= 10; ++step) {
            StepEvent event = step_event(step, loss - 0.1 * step);
            event.step_s = step_s;
            writer.write(event);
        }
        writer.write(EvalEvent{10, loss, 100});
        return run;
    }
    static const DifferingLine* line(const std::vector<DifferingLine>& lines, const std::string& key) {
        for (const DifferingLine& each : lines) {
            if (each.key == key) return &each;
        }
        return nullptr;
    }
};

TEST_F(Compare, ShowsOnlyTheLinesThatDiffer) {
    const std::vector<DifferingLine> lines = differing_lines(
        {make("a",
              "base_model: x\nlearning_rate: 0.1\ndatasets:\n  - path: p\n    type: completion\nseed: 1\n",
              3),
         make(
             "b",
             "# a comment\nbase_model: x\nlearning_rate: 0.2\ndatasets:\n  - path: q\n    type: completion\n",
             3)});
    ASSERT_EQ(lines.size(), 3u);
    EXPECT_EQ(lines[0].key, "datasets.0.path");
    EXPECT_EQ(lines[1].key, "learning_rate");
    EXPECT_EQ(lines[1].values[0], "0.1");
    EXPECT_EQ(lines[1].values[1], "0.2");
    EXPECT_EQ(lines[2].key, "seed");
    EXPECT_FALSE(lines[2].values[1].has_value());
}

TEST_F(Compare, TakesSettingsOfTheCommandLineForTheFiles) {
    const RunDirectory a = make("a", "base_model: x\nseed: 1\n", 3),
                       b = make("b", "base_model: x\nseed: 2\n", 3);
    write(b.options(), R"({"set": [["seed", "1"], ["context_parallel_size", "4"]]})");
    const std::vector<DifferingLine> lines = differing_lines({a, b});
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines[0].key, "context_parallel_size");
}

TEST_F(Compare, ShowsWhatThePlansMadeOfIt) {
    const RunDirectory a = make("a", "base_model: x\n", 3), b = make("b", "base_model: x\n", 3);
    write(a.plan(), R"({"ranks": 2, "mesh": {"ring": 2}, "config": {"file": "/a"}})");
    write(b.plan(), R"({"ranks": 4, "mesh": {"ring": 2}, "config": {"file": "/b"}})");
    const std::vector<DifferingLine> lines = differing_lines({a, b});
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines[0].key, "ranks");
    EXPECT_TRUE(lines[0].from_plan);
}

TEST_F(Compare, AlignsCurvesByStepsTokensAndTime) {
    const RunCurves curves = read_curves(make("a", "base_model: x\n", 3));
    ASSERT_EQ(curves.step.size(), 10u);
    EXPECT_EQ(curves.along(Along::Step)[2], 3);
    EXPECT_EQ(curves.along(Along::Tokens)[2], 3000);
    EXPECT_DOUBLE_EQ(curves.along(Along::Time)[2], 1.5);
    EXPECT_DOUBLE_EQ(curves.loss[2], 2.7);
    EXPECT_DOUBLE_EQ(curves.overhead[2], 0.2);
    EXPECT_EQ(curves.eval_loss, std::vector<double>{3});
}

TEST_F(Compare, LetsALaterLineOfAStepReplaceTheEarlier) {
    const RunDirectory run = make("a", "base_model: x\n", 3);
    EventWriter(run.events(), 0).write(step_event(4, 9));
    const RunCurves curves = read_curves(run);
    ASSERT_EQ(curves.loss.size(), 10u);
    EXPECT_EQ(curves.loss[3], 9);
}

TEST_F(Compare, SaysBetterAndWorseAgainstTheFirst) {
    const Comparison all =
        compare_runs({make("a", "base_model: x\n", 3), make("b", "base_model: x\n", 2.5, 0.25),
                      make("c", "base_model: x\n", 3.001, 1)});
    ASSERT_EQ(all.runs.size(), 3u);
    for (const FigureRow& row : all.figures) {
        EXPECT_EQ(row.changes[0], Change::Unknown);
        if (row.figure == ComparedFigure::LastLoss) {
            EXPECT_THAT(row.changes, testing::ElementsAre(Change::Unknown, Change::Better, Change::Same));
        }
        if (row.figure == ComparedFigure::TokensPerSecond) {
            EXPECT_THAT(row.changes, testing::ElementsAre(Change::Unknown, Change::Better, Change::Worse));
        }
        EXPECT_NE(row.figure, ComparedFigure::MemoryOverEstimate) << "no plan, so no estimate";
    }
}

TEST_F(Compare, ComparesTheRewardsOfRunsThatHaveThem) {
    const auto rewarded = [&](const char* name, double last) {
        const RunDirectory run = make(name, "base_model: x\n", 3);
        EventWriter events(run.events(), 0);
        for (int64_t step = 1; step <= 20; ++step) {
            StepEvent event = step_event(step, 3);
            event.sampling.reward = step <= 10 ? 0 : last;
            events.write(event);
        }
        return run;
    };
    const Comparison all = compare_runs(
        {rewarded("a", 0.5), rewarded("b", 0.75), rewarded("c", 0.25), make("d", "base_model: x\n", 3)});
    EXPECT_EQ(all.runs[0].curves.last_reward(), 0.5);
    EXPECT_EQ(all.runs[3].curves.last_reward(), std::nullopt);
    const auto row = std::find_if(all.figures.begin(), all.figures.end(), [](const FigureRow& one) {
        return one.figure == ComparedFigure::LastReward;
    });
    ASSERT_NE(row, all.figures.end());
    EXPECT_THAT(row->changes,
                testing::ElementsAre(Change::Unknown, Change::Better, Change::Worse, Change::Unknown));
}

TEST_F(Compare, CallsAnEstimatesDistanceNeitherBetterNorWorse) {
    EXPECT_EQ(change_of(ComparedFigure::MemoryOverEstimate, 1.0, 1.3), Change::Differs);
    EXPECT_EQ(change_of(ComparedFigure::PeakMemory, 1.0, 1.3), Change::Worse);
    EXPECT_EQ(change_of(ComparedFigure::PeakMemory, 1.0, std::nullopt), Change::Unknown);
    EXPECT_EQ(change_of(ComparedFigure::Overhead, 0.0, 0.0), Change::Same);
}

TEST_F(Compare, KeepsClippedRatiosGapsAndAlertsOfTheLoss) {
    const RunDirectory a = make("a", "base_model: x\n", 3), b = make("b", "base_model: x\n", 3);
    StepEvent broken = step_event(11, std::nan(""));
    broken.preference.clip_share = 0.25;
    broken.preference.sampler_gap = 0.5;
    EventWriter(b.events(), 0).write(broken);
    const Comparison both = compare_runs({a, b});
    EXPECT_TRUE(both.runs[0].curves.alerts.empty());
    ASSERT_EQ(both.runs[1].curves.alerts.size(), 1u);
    EXPECT_EQ(both.runs[1].curves.alerts[0].kind, AlertKind::NotANumber);
    EXPECT_EQ(both.runs[1].curves.alerts[0].step, 11);
    EXPECT_EQ(both.runs[1].curves.clip_share.back(), 0.25);
    EXPECT_EQ(both.runs[1].curves.sampler_gap.back(), 0.5);
    EXPECT_TRUE(std::isnan(both.runs[1].curves.sampler_gap.front()));
}

TEST_F(Compare, RefusesOneAndNine) {
    const RunDirectory run = make("a", "base_model: x\n", 3);
    EXPECT_THROW(compare_runs({run}), Error);
    EXPECT_THROW(compare_runs(std::vector<RunDirectory>(9, run)), Error);
}

TEST_F(Compare, TakesDamagedAndMissingRunsAsTheyAre) {
    const RunDirectory torn = make("torn", "a: [1, 2\n- {{{\n", 3);
    write(torn.plan(), "{");
    write(torn.options(), R"({"set": [["a"], 3, {"b": 1}]})");
    const Comparison all = compare_runs({torn, {dir_ / "gone"}, make("whole", "base_model: x\n", 3)});
    EXPECT_NE(all.runs[0].row.problem, "");
    EXPECT_NE(all.runs[1].row.problem, "");
    EXPECT_TRUE(all.runs[1].curves.step.empty());
    EXPECT_NE(line(all.lines, "base_model"), nullptr);
}

}  // namespace
}  // namespace ringmaster
