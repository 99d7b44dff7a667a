#include "launcher/run/run_directory.h"

#include <functional>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "tests/launcher/run_fixture.h"

namespace ringmaster {

namespace {

namespace fs = std::filesystem;

std::string refusal(const std::function<void()>& what) {
    try {
        what();
    } catch (const Error& problem) {
        return problem.text();
    }
    return "";
}

using RunDirectoryTest = RunFixture;

TEST(RunName, MayBeAFoldersNameInAnyScript) {
    const std::string longest(100, 'x');
    for (const std::string& name : {std::string("a"), std::string("llama-2026-11-21"),
                                    std::string("長い文脈"), std::string("with blank"), longest}) {
        EXPECT_NO_THROW(check_run_name(name)) << name;
    }
}

TEST(RunName, IsRefusedWithItsFault) {
    EXPECT_THAT(refusal([] { check_run_name(""); }), testing::HasSubstr("is empty"));
    EXPECT_THAT(refusal([] { check_run_name("a/b"); }), testing::HasSubstr("slash"));
    EXPECT_THAT(refusal([] { check_run_name(".."); }), testing::HasSubstr("dot"));
    EXPECT_THAT(refusal([] { check_run_name("a\nb"); }), testing::HasSubstr("control character"));
    EXPECT_THAT(refusal([] { check_run_name(std::string(101, 'x')); }), testing::HasSubstr("101 bytes"));
}

TEST(RunName, IsSuggestedFromAnyFilesName) {
    EXPECT_TRUE(suggest_run_name("/x/llama.yaml").starts_with("llama-20"));
    EXPECT_TRUE(suggest_run_name(".yaml").starts_with("yaml-"));
    for (const std::string& file :
         {std::string(), std::string("..."), std::string("a\nb.yaml"), std::string(300, 'x')}) {
        EXPECT_NO_THROW(check_run_name(suggest_run_name(file))) << file;
    }
    std::string umlauts;
    for (int i = 0; i < 60; ++i) umlauts += "ü";
    const std::string name = suggest_run_name("x" + umlauts + ".yaml");
    EXPECT_EQ(name.substr(name.size() - 11, 1), "-");
    EXPECT_EQ((static_cast<unsigned char>(name[name.size() - 12]) & 0xC0), 0x80)
        << "a character was cut in two: " << name;
    EXPECT_EQ(name.substr(name.size() - 13, 2), "ü");
}

TEST_F(RunDirectoryTest, ATakenNameGetsANumber) {
    const fs::path runs = dir_ / "runs";
    EXPECT_EQ(next_run_directory(runs, "a"), runs / "a");
    EXPECT_EQ(create_run_directory(runs, "a").name(), "a");
    EXPECT_EQ(next_run_directory(runs, "a"), runs / "a-2");
    EXPECT_EQ(create_run_directory(runs, "a").name(), "a-2");
    EXPECT_EQ(create_run_directory(runs, "a").name(), "a-3");
    write(runs / "file", "");
    EXPECT_EQ(create_run_directory(runs, "file").name(), "file-2");
}

TEST_F(RunDirectoryTest, IsFoundByNameAndByPath) {
    const RunDirectory run = make_run("found");
    const fs::path runs = dir_ / "runs";
    EXPECT_EQ(find_run("found", runs).dir, run.dir);
    EXPECT_EQ(find_run(run.dir.string(), "/nowhere").dir, run.dir);
    EXPECT_EQ(find_run(run.dir.string() + "/", "/nowhere").dir, run.dir);
    EXPECT_THAT(refusal([&] { find_run("fuond", runs); }), testing::HasSubstr("did you mean found?"));
    EXPECT_THAT(refusal([&] { find_run(dir_.string(), runs); }), testing::HasSubstr("not a run directory"));
    EXPECT_THAT(refusal([&] { find_run("", runs); }), testing::HasSubstr("empty"));
}

TEST_F(RunDirectoryTest, ListsNewestFirstAndSkipsWhatIsNoRun) {
    make_run("old", RunPhase::Completed, 1, 10);
    const RunDirectory young = make_run("young", RunPhase::Stopped, 1, 20);
    EventWriter events(young.events(), 0);
    for (int step = 1; step <= 4; ++step) events.write(step_event(step, 5.0 - step));
    fs::create_directories(dir_ / "runs/nothing");
    make_run(".deleted-x");
    const std::vector<RunSummary> runs = list_runs(dir_ / "runs");
    ASSERT_EQ(runs.size(), 2U);
    EXPECT_EQ(runs[0].name, "young");
    EXPECT_EQ(runs[0].step, 4);
    EXPECT_EQ(runs[0].loss, 1.0);
    EXPECT_EQ(runs[1].name, "old");
    EXPECT_FALSE(runs[1].step);
    const nlohmann::json json = summary_to_json(runs[0]);
    EXPECT_EQ(json["state"], "stopped");
    EXPECT_TRUE(json["total_steps"].is_null());
}

TEST_F(RunDirectoryTest, ADamagedRunIsListedWithWhatIsWrong) {
    const RunDirectory run = make_run("damaged");
    std::ofstream(run.state()) << "{";
    const auto runs = list_runs(dir_ / "runs");
    ASSERT_EQ(runs.size(), 1U);
    EXPECT_EQ(runs[0].state.state, RunPhase::Failed);
    EXPECT_THAT(runs[0].state.reason, testing::HasSubstr("run.json"));
    delete_run(run);
    EXPECT_FALSE(fs::exists(run.dir));
}

TEST_F(RunDirectoryTest, ARunThatIsOverCanBeDeleted) {
    const RunDirectory run = make_run("over", RunPhase::Failed);
    write(run.checkpoints() / "step-00000001/model.safetensors", "x");
    delete_run(run);
    EXPECT_TRUE(fs::is_empty(dir_ / "runs"));
}

TEST_F(RunDirectoryTest, NothingElseCanBeDeleted) {
    write(dir_ / "photos/run.json", "{}");
    EXPECT_THAT(refusal([&] { delete_run({dir_ / "photos"}); }), testing::HasSubstr("not a run directory"));
    EXPECT_TRUE(fs::exists(dir_ / "photos/run.json"));
}

TEST_F(RunDirectoryTest, ARunThatLivesCannotBeDeleted) {
    const RunDirectory run = make_run("alive", RunPhase::Running);
    RunState state = read_run_state(run.dir);
    state.writer = this_process();
    state.nodes = {{this_host(), this_process(), {}}};
    write_run_state(run.dir, state);
    EXPECT_THAT(refusal([&] { delete_run(run); }), testing::HasSubstr("ringmaster stop alive"));
    EXPECT_TRUE(fs::exists(run.config()));
}

TEST_F(RunDirectoryTest, OnlyCompleteCheckpointsCount) {
    const RunDirectory run = make_run("saved");
    EXPECT_TRUE(complete_checkpoints(run).empty());
    for (const char* name :
         {"step-00000020", "step-00000100", "step-00000003", "step-x", ".step-00000009.partial"}) {
        write(run.checkpoints() / name / "complete", "");
    }
    write(run.checkpoints() / "step-00000200/model.safetensors", "");
    EXPECT_EQ(complete_checkpoints(run), (std::vector<int64_t>{3, 20, 100}));
}

}  // namespace

}  // namespace ringmaster
