#include "launcher/history/run_table.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/plan/plan.h"
#include "engine/plan/plan_request.h"
#include "engine/plan/resolve/make_plan.h"
#include "engine/plan/resolve/plan_json.h"
#include "launcher/history/run_notes.h"
#include "tests/launcher/run_fixture.h"

namespace ringmaster {
namespace {

namespace fs = std::filesystem;

Plan some_plan() {
    const ConfigReading reading = read_config_text(
        "base_model: meta-llama/Llama-3.2-1B\ndatasets:\n  - path: rows.jsonl\n    type: completion\n"
        "output_dir: ./out\nlearning_rate: 0.0001\nsequence_len: 4096\ncontext_parallel_size: 2\nmax_steps: "
        "40\n"
        "attn_implementation: flash_attention_2\n",
        "/somewhere/long.yaml");
    PlanRequest request;
    request.ranks = 2;
    request.machine_ram_bytes = int64_t{64} << 30;
    return make_plan(reading, request);
}

class RunTableTest : public RunFixture {
  protected:
    RunDirectory make_whole(const std::string& name, int steps, RunPhase phase = RunPhase::Completed) {
        const RunDirectory run = make_run(name, phase);
        write_plan(run.plan().string(), some_plan());
        for (int rank = 0; rank < 2; ++rank) add_steps(run, rank, 1, steps);
        return run;
    }
    static void add_steps(const RunDirectory& run, int rank, int from, int to) {
        std::string lines;
        for (int step = from; step <= to; ++step) {
            StepEvent event = step_event(step, 5.0 - 0.01 * step);
            event.peak_memory_bytes = 1000 + 500 * rank + step;
            event.exposed_comm_s = rank == 0 ? 0.1 : 0.05;  // a step takes 0.5 s
            lines += to_json_line({unix_now(), rank, event}) + "\n";
        }
        write(run.events() / event_file_name(rank), lines);
    }
    std::vector<RunRow> read() { return table_.read(dir_ / "runs"); }

    RunTable table_;
};

/// Returns this process's peak memory so far.
int64_t peak_bytes() {
    rusage use{};
    ::getrusage(RUSAGE_SELF, &use);
    return int64_t{use.ru_maxrss} << 10;
}

TEST_F(RunTableTest, ARunThatEndedEarlyIsCutShortUnlessItsLastEventSaysThatItCompleted) {
    make_whole("cut", 30);
    const RunDirectory early = make_whole("early", 30);
    write(early.events() / event_file_name(0),
          to_json_line({unix_now(), 0, DoneEvent{30, "completed"}}) + "\n");
    const RunDirectory again = make_whole("stopped-before", 30);
    write(again.events() / event_file_name(0),
          to_json_line({unix_now(), 0, DoneEvent{30, "stopped"}}) + "\n");
    make_whole("whole", 40);
    std::map<std::string, bool> is_cut;
    for (const RunRow& row : read()) is_cut[row.name] = row.is_cut_short();
    EXPECT_EQ(is_cut, (std::map<std::string, bool>{
                          {"cut", true}, {"early", false}, {"stopped-before", true}, {"whole", false}}));
}

TEST_F(RunTableTest, ReadsTheEventsOfEarlierAttemptsWithLimits) {
    constexpr int64_t kHuge = int64_t{512} << 20;
    const RunDirectory run = make_run("again", RunPhase::Completed);
    const fs::path events = run.events() / event_file_name(0);
    const auto attempt = [&](int number, double t) {
        HelloEvent hello;
        hello.attempt = number;
        write(events, to_json_line({t, 0, hello}) + "\n");
        write(events, to_json_line({t + 7, 0, step_event(number, 3)}) + "\n");
    };
    attempt(1, 1000);
    const auto written = static_cast<int64_t>(fs::file_size(events));
    fs::resize_file(events, static_cast<uintmax_t>(written + kHuge));  // zeros without an end of line
    write(events, "\n");
    attempt(2, 2000);
    RunState state = read_run_state(run.dir);
    state.attempt = 2;
    write_run_state(run.dir, state);
    const int64_t before = peak_bytes();
    const std::vector<RunRow> rows = read();
    EXPECT_LT(peak_bytes() - before, int64_t{64} << 20);
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].measured.ran_before_s, 7);
}

TEST_F(RunTableTest, TellsWhatMattered) {
    const RunDirectory run = make_whole("llama", 40);
    write_run_notes(run, {"good", {"baseline"}});
    const std::vector<RunRow> rows = read();
    ASSERT_EQ(rows.size(), 1u);
    const RunRow& row = rows[0];
    EXPECT_EQ(row.problem, "");
    EXPECT_EQ(row.name, "llama");
    EXPECT_EQ(row.planned.model, "Llama-3.2-1B");
    EXPECT_EQ(row.planned.ranks, 2);
    ASSERT_TRUE(row.planned.mesh);
    EXPECT_EQ(row.planned.mesh->ring, 2);
    EXPECT_EQ(row.planned.sequence_len, 4096);
    EXPECT_EQ(row.planned.total_steps, 40);
    EXPECT_EQ(row.measured.step, 40);
    EXPECT_DOUBLE_EQ(*row.measured.last_loss, 4.6);
    EXPECT_DOUBLE_EQ(*row.measured.best_loss, 4.6);
    EXPECT_FALSE(row.measured.best_is_sampled);
    EXPECT_DOUBLE_EQ(*row.measured.tokens_per_s, 2000);
    EXPECT_EQ(row.measured.peak_memory_bytes, 1540);  // rank 1's last value
    EXPECT_NEAR(*row.measured.overhead, (0.2 + 0.1) / 2, 1e-9);
    EXPECT_EQ(row.notes.tags, std::vector<std::string>{"baseline"});
}

TEST_F(RunTableTest, PutsTheWorstRanksEstimateBesideThePeak) {
    make_whole("llama", 3);
    const Plan plan = some_plan();
    int64_t worst = 0;
    for (const RankMemory& rank : plan.memory->per_rank) worst = std::max(worst, rank.total - rank.runtime);
    EXPECT_EQ(read()[0].planned.memory_bytes, worst) << "tensors, as the events measure them";
}

TEST_F(RunTableTest, ReadsOnlyPartsOfALongRun) {
    const RunDirectory run = make_whole("long", 12'000);
    ASSERT_GT(std::filesystem::file_size(run.events() / "rank-00000.jsonl"), 2u << 20);
    const RunRow row = read()[0];
    EXPECT_EQ(row.measured.step, 12'000);
    EXPECT_TRUE(row.measured.best_is_sampled);
    // The lowest loss is near the end of the file, which is always read.
    EXPECT_DOUBLE_EQ(*row.measured.best_loss, 5.0 - 120);
}

TEST_F(RunTableTest, ReadsAgainWhatHasGrown) {
    const RunDirectory run = make_whole("llama", 5);
    EXPECT_EQ(read()[0].measured.step, 5);
    add_steps(run, 0, 6, 9);
    EXPECT_EQ(read()[0].measured.step, 9);
    write_run_notes(run, {"now with notes", {}});
    EXPECT_EQ(read()[0].notes.text, "now with notes");
}

TEST_F(RunTableTest, TakesAResumedRunsLastLineForItsStep) {
    const RunDirectory run = make_whole("llama", 9);
    add_steps(run, 0, 4, 6);
    EXPECT_EQ(read()[0].measured.step, 6);
}

TEST_F(RunTableTest, ForgetsWhatIsGone) {
    const RunDirectory run = make_whole("llama", 5);
    EXPECT_EQ(read().size(), 1u);
    delete_run(run);
    EXPECT_TRUE(read().empty());
}

TEST_F(RunTableTest, IsEmptyWithoutAFolder) {
    EXPECT_TRUE(table_.read(dir_ / "nowhere").empty());
    write(dir_ / "runs", "a file");
    EXPECT_TRUE(read().empty());
}

TEST_F(RunTableTest, ShowsADamagedRunAsARowWithItsProblem) {
    write(dir_ / "runs/torn/config.yaml", "base_model: x\n");
    write(dir_ / "runs/torn/run.json", "{\"name\": \"torn\", \"sta");
    write(dir_ / "runs/bare/run.json", "[]");
    write(dir_ / "runs/nostate/config.yaml", "base_model: x\n");
    write(dir_ / "runs/not-a-run/readme.txt", "hello");
    make_whole("whole", 3);
    const std::vector<RunRow> rows = read();
    ASSERT_EQ(rows.size(), 4u);
    for (const RunRow& row : rows) {
        EXPECT_EQ(row.problem.empty(), row.name == "whole") << row.name << ": " << row.problem;
        EXPECT_FALSE(row.is_live());
    }
}

TEST_F(RunTableTest, SurvivesHostileFiles) {
    const RunDirectory pipes = make_run("pipes");
    std::filesystem::create_directories(pipes.events());
    ASSERT_EQ(mkfifo(pipes.plan().c_str(), 0644), 0);
    ASSERT_EQ(mkfifo((pipes.events() / "rank-00000.jsonl").c_str(), 0644), 0);
    const RunDirectory odd = make_run("odd");
    write(odd.plan(),
          R"({"ranks": -3, "mesh": [], "memory": {"per_rank": {"total": "much"}}, "batch": 7,)"
          R"("sequence": {"length": 1e300}, "config": {"base_model": ["x"]}, "time": {"step_s": "fast"}})");
    write(odd.events() / "rank-00000.jsonl",
          std::string(100'000, '[') + "\n{\"type\":\"step\"}\n\0\0\n" +
              "{\"type\":\"step\",\"t\":1,\"rank\":0,\"step\":2,\"loss\":null}\n");
    const RunDirectory deep = make_run("deep");
    write(deep.plan(), std::string(200'000, '['));
    std::filesystem::create_symlink(dir_ / "runs" / "loop", dir_ / "runs" / "loop");
    const std::vector<RunRow> rows = read();
    ASSERT_EQ(rows.size(), 3u);
    for (const RunRow& row : rows) {
        if (row.name == "odd") {
            EXPECT_EQ(row.measured.step, 2);
            EXPECT_FALSE(row.planned.memory_bytes);
        } else {
            EXPECT_NE(row.problem, "") << row.name;
        }
    }
}

TEST_F(RunTableTest, SeesThatALiveRunsWriterIsGone) {
    const RunDirectory run = make_whole("llama", 3, RunPhase::Running);
    RunState state = read_run_state(run.dir);
    state.writer = this_process();
    write_run_state(run.dir, state);
    EXPECT_TRUE(read()[0].is_live());
    state.writer.start_time += 1;  // now differs from the start time of the living process
    write_run_state(run.dir, state);
    EXPECT_EQ(read()[0].state.state, RunPhase::Failed);
}

TEST(RunRowDuration, GoesFromTheStartToTheEndOrToNow) {
    RunRow row;
    EXPECT_FALSE(row.duration_s(100));
    row.state.started = 10;
    row.state.state = RunPhase::Running;
    EXPECT_EQ(row.duration_s(100), 90);
    row.state.state = RunPhase::Completed;
    row.state.ended = 60;
    EXPECT_EQ(row.duration_s(100), 50);
}

}  // namespace
}  // namespace ringmaster
