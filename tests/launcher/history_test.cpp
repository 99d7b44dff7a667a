#include "launcher/history/history.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "launcher/history/curves.h"
#include "tests/launcher/run_fixture.h"

namespace ringmaster {

namespace {

using namespace std::chrono_literals;

class HistoryTest : public RunFixture {
  protected:
    static void read_all(RunHistory& history) {
        history.read(10s);
        while (history.read(10s) || !history.progress().whole()) {
        }
    }

    static StepColumns columns(const std::vector<double>& losses) {
        StepColumns steps;
        for (size_t i = 0; i < losses.size(); ++i)
            steps.put(100.0 + static_cast<double>(i), step_event(static_cast<int64_t>(i) + 1, losses[i]));
        return steps;
    }

    /// Writes a rank's step events `from` to `to` with a single write, which is fast.
    void write_steps(const RunDirectory& run, int rank, int64_t from, int64_t to, double loss,
                     double t = 1000) {
        std::string text;
        for (int64_t step = from; step <= to; ++step) {
            EventLine line{t + static_cast<double>(step), rank, step_event(step, loss)};
            text += to_json_line(line) + "\n";
        }
        write(run.events() / event_file_name(rank), text);
    }
};

/// Tests alerts in a run of 9,000 steps whose file is so long that its end is read first. Rank 1 is slow from
/// step 3,000 on, and the loss of step 6,000 is too high. The run stalls for 10 minutes after step 8,000, and
/// an evaluation of 10 minutes follows step 8,500.
class AlertsOfHistory : public HistoryTest {
  protected:
    RunDirectory make_faulty(const std::string& name) {
        const RunDirectory run = make_run(name, RunPhase::Completed);
        for (int rank = 0; rank < 2; ++rank) {
            std::string text;
            for (int64_t step = 1; step <= 9000; ++step) {
                StepEvent event =
                    step_event(step, step == 6000 ? 8 : 1 + 2000.0 / (static_cast<double>(step) + 1000));
                event.exposed_comm_s = step >= 3000 && step < 3200 && rank == 0 ? 0.2 : 0.02;
                text += to_json_line({time_of(step), rank, event}) + "\n";
                if (step == 8500 && rank == 0)
                    text += to_json_line({time_of(step) + 599, 0, EvalEvent{step, 1.1, 10}}) + "\n";
            }
            write(run.events() / event_file_name(rank), text);
        }
        return run;
    }
    static double time_of(int64_t step) {
        return 1.7e9 + 0.5 * static_cast<double>(step) + (step > 8000 ? 600 : 0) + (step > 8500 ? 600 : 0);
    }
    static std::vector<std::pair<std::string, int64_t>> told(const std::vector<Alert>& alerts) {
        std::vector<std::pair<std::string, int64_t>> all;
        for (const Alert& alert : alerts) all.emplace_back(to_string(alert.kind), alert.step);
        return all;
    }
    const std::vector<std::pair<std::string, int64_t>> kFaults = {
        {"slow_rank", 3020}, {"spike", 6000}, {"stall", 8000}};
};

TEST_F(AlertsOfHistory, AreTheSameInWhateverOrderTheEventsAreRead) {
    const RunDirectory run = make_faulty("faulty");
    RunHistory whole(run);
    read_all(whole);
    EXPECT_EQ(told(whole.alerts()), kFaults);
    EXPECT_EQ(whole.alerts()[0].rank, 1);
    RunHistory polled(run, 512);
    while (!polled.poll().empty()) {
    }
    EXPECT_EQ(told(polled.alerts()), kFaults);
    EXPECT_EQ(told(polled.take_alerts()), kFaults);
    EXPECT_EQ(polled.alerts()[0].rank, 1);
    EXPECT_TRUE(polled.take_alerts().empty());
}

TEST_F(AlertsOfHistory, GoOnWithANewAttemptsSteps) {
    const RunDirectory run = make_faulty("resumed");
    RunHistory live(run);
    read_all(live);
    ASSERT_EQ(told(live.take_alerts()), kFaults);
    HelloEvent hello;
    hello.attempt = 2;
    hello.start_step = 8900;
    for (int rank = 0; rank < 2; ++rank) {
        std::string text = to_json_line({time_of(9000) + 5000, rank, hello}) + "\n";
        for (int64_t step = 8901; step <= 9200; ++step)
            text +=
                to_json_line({time_of(step) + 6000, rank, step_event(step, step == 9100 ? 9 : 1.2)}) + "\n";
        write(run.events() / event_file_name(rank), text);
    }
    read_all(live);
    EXPECT_EQ(told(live.take_alerts()), (std::vector<std::pair<std::string, int64_t>>{{"spike", 9100}}));
    RunHistory later(run);
    read_all(later);
    EXPECT_EQ(later.alerts(), live.alerts());
}

TEST_F(AlertsOfHistory, CountSilenceOnlyOfThisMachinesRuns) {
    const RunDirectory run = make_run("silent", RunPhase::Running);
    for (int rank = 0; rank < 2; ++rank) write_steps(run, rank, 1, 40, 2, unix_now() - 200);
    RunState state = read_run_state(run.dir);
    const auto alerts_with = [&](const std::string& host) {
        state.writer = this_process();
        if (!host.empty()) state.writer.host = host;
        write_run_state(run.dir, state);
        RunHistory history(run);
        read_all(history);
        return told(history.alerts());
    };
    EXPECT_EQ(alerts_with(""), (std::vector<std::pair<std::string, int64_t>>{{"stall", 40}}));
    EXPECT_TRUE(alerts_with("elsewhere").empty());
}

TEST_F(HistoryTest, HoldsEveryRanksSteps) {
    const RunDirectory run = make_run("plain", RunPhase::Running);
    for (int rank = 0; rank < 2; ++rank) {
        EventWriter events(run.events(), rank);
        events.write(HelloEvent{});
        for (int step = 1; step <= 600; ++step) events.write(step_event(step, 10.0 - step * 0.01 + rank));
    }
    RunHistory history(run);
    read_all(history);
    EXPECT_EQ(history.first_step(), 1);
    EXPECT_EQ(history.last_step(), 600);
    EXPECT_EQ(history.events(), 1202);
    EXPECT_FLOAT_EQ(history.ranks()[1].steps.value(300, Measure::Loss), 8.0F);
    EXPECT_TRUE(std::isnan(history.ranks()[1].steps.value(601, Measure::Loss)));
    EXPECT_TRUE(history.ranks()[0].hello);
}

TEST_F(HistoryTest, FollowsWhatIsAppendedAndKeepsHalfALineForLater) {
    const RunDirectory run = make_run("live", RunPhase::Running, 1);
    write_steps(run, 0, 1, 3, 5);
    RunHistory history(run);
    EXPECT_TRUE(history.read(1s));
    const std::string line = to_json_line({2000, 0, step_event(4, 4.5)}) + "\n";
    write(run.events() / event_file_name(0), line.substr(0, 20));
    EXPECT_FALSE(history.read(1s));
    EXPECT_EQ(history.last_step(), 3);
    write(run.events() / event_file_name(0), line.substr(20));
    EXPECT_TRUE(history.read(1s));
    EXPECT_EQ(history.last_step(), 4);
    EXPECT_EQ(history.last_heard(), 2000);
}

TEST_F(HistoryTest, ALineAfterAResumeReplacesTheEarlier) {
    const RunDirectory run = make_run("resumed", RunPhase::Running, 1);
    write_steps(run, 0, 1, 80, 5);
    HelloEvent again;
    again.attempt = 2;
    again.start_step = 50;
    write(run.events() / event_file_name(0), to_json_line({3000, 0, again}) + "\n");
    write_steps(run, 0, 51, 60, 3, 3000);
    RunHistory history(run);
    read_all(history);
    EXPECT_EQ(history.last_step(), 60) << "steps 61 to 80 are of an attempt that was given up";
    EXPECT_FLOAT_EQ(history.ranks()[0].steps.value(50, Measure::Loss), 5);
    EXPECT_FLOAT_EQ(history.ranks()[0].steps.value(51, Measure::Loss), 3);
    EXPECT_EQ(history.ranks()[0].steps.count(), 80);
}

TEST_F(HistoryTest, OfALongFileTheEndAndSamplesComeFirstAndTheRestTurnsOutTheSame) {
    const RunDirectory run = make_run("long", RunPhase::Running, 1);
    constexpr int64_t kSteps = 20'000;
    write_steps(run, 0, 1, kSteps, 2.0);
    // Writes the same step again, at the end of the file.
    write_steps(run, 0, kSteps - 100, kSteps - 100, 9.0, 90'000);
    ASSERT_GT(std::filesystem::file_size(run.events() / event_file_name(0)), 2U << 20);
    RunHistory history(run);
    history.read(0ms);
    const StepColumns& steps = history.ranks()[0].steps;
    EXPECT_FALSE(history.progress().whole());
    EXPECT_TRUE(steps.has(kSteps));
    EXPECT_LT(steps.count(), kSteps);
    const Curve coarse = reduce(steps, Measure::Loss, {1, kSteps}, 20);
    for (float value : coarse.last) EXPECT_FALSE(std::isnan(value));
    EXPECT_EQ(history.last_step(), kSteps - 100);
    read_all(history);
    EXPECT_EQ(steps.count(), kSteps);
    EXPECT_FLOAT_EQ(steps.value(kSteps - 100, Measure::Loss), 9.0F) << "what was read first was newer";
    EXPECT_FLOAT_EQ(steps.value(kSteps / 2, Measure::Loss), 2.0F);
}

TEST_F(HistoryTest, CostsLessThan100BytesAnEvent) {
    const RunDirectory run = make_run("memory", RunPhase::Running, 1);
    write_steps(run, 0, 1, 10'000, 2.0);
    RunHistory history(run);
    read_all(history);
    EXPECT_LT(static_cast<double>(history.bytes()) / static_cast<double>(history.events()), 100);
}

TEST_F(HistoryTest, DamagedAndHostileFilesCostNothingAndBreakNothing) {
    const RunDirectory run = make_run("hostile", RunPhase::Running, 3);
    std::mt19937 random(7);
    std::string noise;
    for (int i = 0; i < 200'000; ++i) noise += static_cast<char>(random() % 256);
    write(run.events() / event_file_name(0), noise + "\n");
    std::string text;
    for (int i = 0; i < 6'000; ++i) {
        StepEvent step = step_event(static_cast<int64_t>(random()) * 200, 1);
        if (i % 3 == 0) step.step = -step.step;
        if (i % 5 == 0) step.step_s = 1e308;
        if (i % 7 == 0) step.step = 0;
        text += to_json_line({1e9 * i, 1, step}) + "\n";
    }
    write(run.events() / event_file_name(1), text);
    // A folder takes the place of rank 2's file.
    std::filesystem::create_directories(run.events() / event_file_name(2));
    write_steps(run, 1, 1, 100, 3);
    RunHistory history(run);
    read_all(history);
    EXPECT_GT(history.ranks()[1].odd_lines, 0);
    EXPECT_LT(history.bytes(), 64U << 20);
    const StepColumns& steps = history.ranks()[1].steps;
    EXPECT_FLOAT_EQ(steps.value(7, Measure::Loss), 3);
    EXPECT_EQ(reduce(steps, Measure::Loss, {steps.first(), steps.last()}, 500).size(), 500U);
    EXPECT_EQ(positions(steps, XAxis::Seconds, {steps.first(), steps.last()}, 500).size(), 500U);
}

std::string sample_line(int64_t step, int prompt, const std::string& text,
                        const nlohmann::json& asked = "Once") {
    const nlohmann::json line = {{"step", step},   {"prompt", prompt}, {"asked", asked},
                                 {"text", text},   {"ids", {1, 2}},    {"log_probabilities", {-0.5, -1.5}},
                                 {"stopped", true}};
    return line.dump() + "\n";
}

TEST_F(HistoryTest, SamplesAreFollowedAndAResumedRunReplacesThem) {
    const RunDirectory run = make_run("samples", RunPhase::Running, 1);
    const nlohmann::json message = {{"role", "user"}, {"content", "Hi"}};
    const nlohmann::json chat = nlohmann::json::array({message});
    write(run.dir / kSamplesFile, sample_line(80, 0, " a") + sample_line(80, 1, " b", chat));
    RunHistory history(run);
    read_all(history);
    EXPECT_EQ(history.samples().at(80).at(0), (Sample{"Once", " a", false, true}));
    EXPECT_EQ(history.samples().at(80).at(1).prompt, "Hi");
    const std::string next = sample_line(160, 0, " c");
    write(run.dir / kSamplesFile, next.substr(0, 30));
    EXPECT_FALSE(history.read(1s)) << "half a line";
    write(run.dir / kSamplesFile, next.substr(30));
    EXPECT_TRUE(history.read(1s));
    EXPECT_EQ(history.samples().at(160).at(0).text, " c");
    write(run.dir / kSamplesFile, sample_line(120, 0, " d") + sample_line(80, 0, " e"));
    read_all(history);
    ASSERT_EQ(history.samples().size(), 1U) << "steps after 80 belong to an attempt that was given up";
    EXPECT_EQ(history.samples().at(80).at(0).text, " e");
    EXPECT_EQ(history.samples().at(80).at(1).text, " b");
    std::filesystem::resize_file(run.dir / kSamplesFile, 0);
    read_all(history);
    write(run.dir / kSamplesFile, sample_line(1, 0, " f"));
    read_all(history);
    EXPECT_EQ(history.samples().size(), 1U);
    EXPECT_EQ(history.samples().at(1).at(0).text, " f");
}

TEST_F(HistoryTest, HostileSamplesCostLittleAndHideNoGoodOnes) {
    const RunDirectory run = make_run("hostile-samples", RunPhase::Running, 1);
    const auto file = run.dir / kSamplesFile;
    write(file, std::string(9 << 20, '[') + "\n" + std::string(1 << 20, '{') + "\nnull\n{}\n[1]\n");
    write(file, R"({"step":-1,"prompt":0,"text":"x"})"
                "\n"
                R"({"step":1,"prompt":1e9,"text":"x"})"
                "\n"
                R"({"step":1,"prompt":999,"text":"x"})"
                "\n"
                R"({"step":"1","prompt":0})"
                "\n\xff\xfe\n");
    write(file, R"({"step":3,"prompt":0,"asked":[[1],{"role":7},null],"text":["x"],"stopped":"no"})"
                "\n");
    for (int64_t step = 10; step < 1210; ++step)
        write(file, sample_line(step, 0, std::string(20 << 10, 'x')));
    RunHistory history(run);
    read_all(history);
    for (int more = 0; more < 40; ++more) history.read(1s);
    EXPECT_EQ(history.samples().rbegin()->first, 1209);
    EXPECT_EQ(history.samples().at(1209).at(0).text.size(), SampleFile::kMostText);
    EXPECT_LT(history.bytes(), SampleFile::kMostBytes + (1U << 20));
    EXPECT_GT(history.samples().size(), 500U);
}

TEST_F(HistoryTest, TheDurationIsThatOfAllAttempts) {
    const RunDirectory run = make_run("again", RunPhase::Completed, 1);
    const auto attempt = [&](int number, double t) {
        HelloEvent hello;
        hello.attempt = number;
        write(run.events() / event_file_name(0), to_json_line({t, 0, hello}) + "\n");
        write_steps(run, 0, number, number, 3, t + 6);
    };
    attempt(1, 1000);
    attempt(2, 2000);
    RunState state = read_run_state(run.dir);
    state.attempt = 2;
    state.started = 2000;
    state.ended = 2010;
    write_run_state(run.dir, state);
    RunHistory history(run);
    read_all(history);
    EXPECT_EQ(history.duration_s(9000), 7 + 10);
}

TEST_F(HistoryTest, ThePeakIsThatOfAllSteps) {
    const RunDirectory run = make_run("peak", RunPhase::Running, 1);
    std::string text;
    for (const int64_t step : {1, 2, 3}) {
        StepEvent event = step_event(step, 2);
        event.peak_memory_bytes = step == 2 ? 123'456'789'123 : 5;
        text += to_json_line({1.0, 0, event}) + "\n";
    }
    write(run.events() / event_file_name(0), text);
    RunHistory history(run);
    read_all(history);
    EXPECT_EQ(history.ranks()[0].peak_bytes, 123'456'789'123);
}

TEST_F(HistoryTest, AGoneDirectoryKeepsWhatIsKnownAndSaysSo) {
    const RunDirectory run = make_run("gone", RunPhase::Running, 1);
    write_steps(run, 0, 1, 5, 2);
    RunHistory history(run);
    read_all(history);
    std::filesystem::remove_all(run.dir);
    EXPECT_NO_THROW(history.read(1s));
    EXPECT_THAT(history.problem(), testing::HasSubstr("run.json"));
    EXPECT_EQ(history.last_step(), 5);
}

TEST_F(HistoryTest, AFloodOfWarningsPushesOutNoError) {
    const RunDirectory run = make_run("flood", RunPhase::Running, 2);
    const auto warnings = [](int rank, double from, int count) {
        std::string text;
        for (int i = 0; i < count; ++i)
            text += to_json_line({from + i, rank, WarningEvent{"warning " + std::to_string(i), ""}}) + "\n";
        return text;
    };
    const auto error = [](int rank, double t) {
        return to_json_line({t, rank, ErrorEvent{"broken", "here"}}) + "\n";
    };
    write(run.events() / event_file_name(0), error(0, 1) + warnings(0, 2, 6000));
    write(run.events() / event_file_name(1), error(1, 9000) + error(1, 0.5));
    RunHistory history(run);
    read_all(history);
    const auto errors = [](const std::vector<Happening>& found) {
        return std::count_if(found.begin(), found.end(), [](const Happening& one) {
            return std::holds_alternative<ErrorEvent>(one.event);
        });
    };
    EXPECT_EQ(errors(history.happenings()), 3);
    EXPECT_LE(history.happenings().size(), 4000U);
    const std::vector<Happening> news = history.take_news();
    EXPECT_EQ(errors(news), 3);
    EXPECT_LE(news.size(), 2000U);
}

TEST_F(HistoryTest, ManyErrorsHaveALimitToo) {
    const RunDirectory run = make_run("errors", RunPhase::Running, 1);
    std::string text;
    for (int i = 0; i < 6000; ++i)
        text += to_json_line({1000.0 + i, 0, ErrorEvent{"broken " + std::to_string(i), ""}}) + "\n";
    write(run.events() / event_file_name(0), text);
    RunHistory history(run);
    read_all(history);
    EXPECT_EQ(history.happenings().size(), 4000U);
    EXPECT_EQ(history.happenings().back().t, 6999);
    EXPECT_EQ(history.take_news().size(), 2000U);
}

TEST_F(HistoryTest, TheFirstErrorOfThisAttemptIsKept) {
    const RunDirectory run = make_run("failed", RunPhase::Failed, 2);
    RunState state = read_run_state(run.dir);
    state.started = 500;
    write_run_state(run.dir, state);
    const auto tell = [&](double t, int rank, const char* what) {
        write(run.events() / event_file_name(rank), to_json_line({t, rank, ErrorEvent{what, ""}}) + "\n");
    };
    tell(100, 0, "of the attempt before");
    tell(620, 0, "peer is gone");
    tell(610, 1, "out of memory");
    RunHistory history(run);
    read_all(history);
    ASSERT_TRUE(history.first_error());
    EXPECT_EQ(std::get<ErrorEvent>(history.first_error()->event).message, "out of memory");
    EXPECT_EQ(history.happenings().size(), 3U);
    EXPECT_EQ(history.take_news().size(), 3U);
    EXPECT_TRUE(history.take_news().empty());
}

TEST_F(HistoryTest, ASpikeOfOneStepSurvivesAnyReduction) {
    std::vector<double> losses(10'000, 1.0);
    losses[6'789] = 50;
    losses[1'234] = -7;
    const StepColumns steps = columns(losses);
    for (int width : {1, 7, 100, 999, 10'000, 50'000}) {
        const Curve curve = reduce(steps, Measure::Loss, {1, 10'000}, width);
        EXPECT_EQ(*std::max_element(curve.high.begin(), curve.high.end()), 50) << width;
        EXPECT_EQ(*std::min_element(curve.low.begin(), curve.low.end()), -7) << width;
        EXPECT_LE(curve.size(), static_cast<size_t>(std::min(width, 10'000)));
    }
}

TEST_F(HistoryTest, ReductionAgreesWithLookingAtEveryStep) {
    std::mt19937 random(3);
    std::vector<double> losses;
    for (int i = 0; i < 3000; ++i) losses.push_back(random() % 7 == 0 ? std::nan("") : random() % 1000);
    const StepColumns steps = columns(losses);
    const StepRange range{37, 2811};
    for (int width : {13, 250, 2775}) {
        const Curve curve = reduce(steps, Measure::Loss, range, width);
        int64_t next = range.from;
        for (int column = 0; column < static_cast<int>(curve.size()); ++column) {
            const StepRange part = steps_of_column(range, width, column);
            ASSERT_EQ(part.from, next);
            next = part.to + 1;
            float low = std::nanf(""), high = low, last = low;
            for (int64_t step = part.from; step <= part.to; ++step) {
                const auto value = static_cast<float>(losses[static_cast<size_t>(step - 1)]);
                low = std::fmin(low, value);
                high = std::fmax(high, value);
                if (!std::isnan(value)) last = value;
            }
            const auto same = [](float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); };
            EXPECT_TRUE(same(curve.low[static_cast<size_t>(column)], low));
            EXPECT_TRUE(same(curve.high[static_cast<size_t>(column)], high));
            EXPECT_TRUE(same(curve.last[static_cast<size_t>(column)], last));
        }
        EXPECT_EQ(next, range.to + 1);
    }
}

TEST_F(HistoryTest, GapsStayGaps) {
    StepColumns steps;
    for (int64_t step = 1; step <= 1000; ++step) {
        if (step < 301 || step > 600) steps.put(1.0 * static_cast<double>(step), step_event(step, 1));
    }
    const Curve curve = reduce(steps, Measure::Loss, {1, 1000}, 10);
    for (size_t column = 0; column < 10; ++column)
        EXPECT_EQ(std::isnan(curve.last[column]), column >= 3 && column < 6) << column;
}

TEST_F(HistoryTest, SmoothingIsTheUnbiasedMovingAverage) {
    const StepColumns steps = columns({4, 2, std::nan(""), 8});
    const std::vector<float> smooth = smoothed(steps, Measure::Loss, {1, 4}, 4, 0.5);
    EXPECT_FLOAT_EQ(smooth[0], 4);
    EXPECT_FLOAT_EQ(smooth[1], (4 * 0.25F + 2 * 0.5F) / 0.75F);
    EXPECT_TRUE(std::isnan(smooth[2]));
    EXPECT_FLOAT_EQ(smooth[3], (4 * 0.125F + 2 * 0.25F + 8 * 0.5F) / 0.875F);
    const std::vector<float> later = smoothed(steps, Measure::Loss, {4, 4}, 4, 0.5);
    EXPECT_FLOAT_EQ(later[0], smooth[3]) << "a zoom does not change the figure";
    EXPECT_FLOAT_EQ(smoothed(columns(std::vector<double>(50, 3)), Measure::Loss, {1, 50}, 5, 0.99)[0], 3);
}

TEST_F(HistoryTest, FiguresOfSomeRunsAreKeptOnceAndReplacedAfterAResume) {
    StepColumns steps;
    for (int64_t step = 1; step <= 600; ++step) {
        StepEvent event = step_event(step, 1);
        if (step > 300) event.sampling.reward = 0.5;
        if (step > 300) event.sampling.functions = {{"tasks.exact", 0.25}, {"tasks.short", -1}};
        steps.put(1, event);
    }
    EXPECT_TRUE(steps.has(Measure::Reward));
    EXPECT_FALSE(steps.has(Measure::Kl));
    EXPECT_FALSE(steps.has(Measure::Loss)) << "every run has it";
    EXPECT_EQ(steps.functions(), (std::vector<std::string>{"tasks.exact", "tasks.short"}));
    EXPECT_TRUE(std::isnan(steps.value(300, Measure::Reward)));
    EXPECT_EQ(steps.value(301, Measure::Reward), 0.5F);
    EXPECT_EQ(steps.value(301, reward_of_function(1)), -1);
    const Curve curve = reduce(steps, Measure::Reward, {1, 600}, 6);
    EXPECT_TRUE(std::isnan(curve.mean[2]));
    EXPECT_EQ(curve.mean[3], 0.5F);
    steps.put(2, step_event(400, 1));  // the resumed attempt has no rewards
    EXPECT_TRUE(std::isnan(steps.value(400, Measure::Reward)));
    const size_t with = steps.bytes();
    StepColumns others;
    others.leave_out_optional();
    StepEvent event = step_event(1, 1);
    event.sampling.reward = 0.5;
    others.put(1, event);
    EXPECT_FALSE(others.has(Measure::Reward));
    EXPECT_TRUE(std::isnan(others.value(1, Measure::Reward)));
    EXPECT_LT(with, 3 * (others.bytes() + StepColumns::kBlock * sizeof(float) * kOptionalMeasures));
}

/// Without a limit, forged lines whose steps are far apart could each allocate a block with all columns.
TEST_F(HistoryTest, ForgedFiguresCostNoMoreMemoryThanBlocksMay) {
    StepColumns steps;
    StepEvent event = step_event(1, 1);
    event.preference.kl = 1;
    for (int name = 0; name < 100; ++name) event.sampling.functions["f" + std::to_string(name)] = 1;
    for (int64_t step = 1; step <= 5000; ++step) {
        event.step = step * StepColumns::kBlock;
        steps.put(1, event);
    }
    EXPECT_EQ(steps.functions().size(), kMostFunctions);
    EXPECT_LT(steps.bytes(),
              600 * StepColumns::kBlock * sizeof(float) * (kStoredMeasures + kOptionalMeasures));
}

TEST_F(HistoryTest, TheAxisCountsStepsTokensOrTime) {
    const StepColumns steps =
        columns({1, 1, 1, 1});  // 1000 tokens and 0.5 s per step, one event each second from 100 s on
    EXPECT_EQ(positions(steps, XAxis::Step, {1, 4}, 2), (std::vector<double>{2, 4}));
    EXPECT_EQ(positions(steps, XAxis::Tokens, {1, 4}, 2), (std::vector<double>{2000, 4000}));
    EXPECT_EQ(positions(steps, XAxis::Tokens, {3, 4}, 2), (std::vector<double>{3000, 4000}));
    EXPECT_EQ(positions(steps, XAxis::Seconds, {1, 4}, 2), (std::vector<double>{1.5, 3.5}));
}

TEST_F(HistoryTest, DerivedMeasuresFollowTheContract) {
    StepColumns steps;
    StepEvent event = step_event(1, 2);
    event.comm_s = 0.4;
    event.tokens = 5000;
    steps.put(1, event);
    EXPECT_FLOAT_EQ(steps.value(1, Measure::ExposedShare), 0.2F);
    EXPECT_FLOAT_EQ(steps.value(1, Measure::Overlap), 0.75F);
    EXPECT_FLOAT_EQ(steps.value(1, Measure::TokensPerSecond), 10'000);
    EXPECT_FLOAT_EQ(steps.value(1, Measure::WorkSeconds), 0.4F);
    EXPECT_TRUE(std::isnan(steps.value(1, Measure::PeakMemoryBytes))) << "not told is not 0";
    event.step_s = 0;
    event.comm_s = 0;
    steps.put(1, event);
    EXPECT_TRUE(std::isnan(steps.value(1, Measure::ExposedShare)));
    EXPECT_TRUE(std::isnan(steps.value(1, Measure::Overlap)));
}

TEST_F(HistoryTest, ManyRanksAreASpreadAndItsOutliers) {
    std::vector<Curve> ranks;
    for (int rank = 0; rank < 20; ++rank) {
        const double value = rank == 13 ? 5 : 1 + 0.001 * rank;
        ranks.push_back(reduce(columns(std::vector<double>(40, value)), Measure::Loss, {1, 40}, 8));
    }
    const Spread spread = spread_of(ranks);
    EXPECT_FLOAT_EQ(spread.low[3], 1);
    EXPECT_FLOAT_EQ(spread.high[3], 5);
    EXPECT_NEAR(spread.median[3], 1.01, 1e-3);
    ASSERT_EQ(outliers(ranks, spread, 3).size(), 3U);
    EXPECT_EQ(outliers(ranks, spread, 3)[0], 13U);
}

}  // namespace

}  // namespace ringmaster
