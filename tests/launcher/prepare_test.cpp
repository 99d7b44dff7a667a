#include "launcher/run/prepare.h"

#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "engine/events/output_claim.h"
#include "tests/launcher/run_fixture.h"

namespace ringmaster {

namespace {

using OutputDirTest = RunFixture;

TEST_F(OutputDirTest, MayBeMissingEmptyOrOfAnEarlierRun) {
    EXPECT_NO_THROW(check_output_dir(dir_ / "missing", false));
    std::filesystem::create_directories(dir_ / "empty");
    EXPECT_NO_THROW(check_output_dir(dir_ / "empty", false));
    write(dir_ / "ours/model.safetensors", "x");
    write(dir_ / "ours/ringmaster-run.json", "{}");
    EXPECT_NO_THROW(check_output_dir(dir_ / "ours", false));
}

TEST_F(OutputDirTest, ThatHoldsSomethingElseIsRefusedUnlessOverwritten) {
    write(dir_ / "theirs/thesis.tex", "x");
    try {
        check_output_dir(dir_ / "theirs", false);
        FAIL();
    } catch (const Error& problem) {
        EXPECT_EQ(problem.failure, Failure::Refused);
        EXPECT_THAT(problem.text(), testing::HasSubstr("--overwrite"));
        EXPECT_THAT(problem.text(), testing::HasSubstr("theirs"));
    }
    EXPECT_NO_THROW(check_output_dir(dir_ / "theirs", true));
}

TEST_F(OutputDirTest, ThatALivingRunHoldsIsRefusedWithItsName) {
    const RunDirectory first = make_run("first", RunPhase::Running), second = make_run("second");
    claim_output(dir_ / "out", first.dir, "first");
    try {
        claim_output(dir_ / "out", second.dir, "second");
        FAIL();
    } catch (const Error& problem) {
        EXPECT_EQ(problem.failure, Failure::Refused);
        EXPECT_THAT(problem.text(), testing::HasSubstr("in use by the run first"));
    }
    EXPECT_THROW(refuse_held_output(dir_ / "out", {}), Error);
    EXPECT_NO_THROW(refuse_held_output(dir_ / "out", first.dir)) << "its own";
    EXPECT_NO_THROW(check_output_dir(dir_ / "out", false)) << "later runs may write there";
}

TEST_F(OutputDirTest, IsFreeAgainOnceItsRunIsOverOrGoneOrWaitsForNobody) {
    const RunDirectory first = make_run("first", RunPhase::Running), second = make_run("second");
    claim_output(dir_ / "out", first.dir, "first");
    set_state(first, RunPhase::Stopped);
    EXPECT_NO_THROW(refuse_held_output(dir_ / "out", second.dir));
    set_state(first, RunPhase::Queued);
    EXPECT_THROW(refuse_held_output(dir_ / "out", second.dir), Error) << "this process is about to start it";
    write(
        dir_ / "other/ringmaster-run.json",
        nlohmann::json{{"run", "first"},
                       {"dir", first.dir.string()},
                       {"process", {{"host", this_host()}, {"pid", 1}, {"start_time", 1}, {"boot_id", "x"}}}}
            .dump());
    EXPECT_NO_THROW(refuse_held_output(dir_ / "other", second.dir)) << "nobody is";
    set_state(first, RunPhase::Preparing);
    EXPECT_THROW(refuse_held_output(dir_ / "other", second.dir), Error);
    std::filesystem::remove_all(first.dir);
    EXPECT_NO_THROW(refuse_held_output(dir_ / "other", second.dir));
    write(dir_ / "damaged/ringmaster-run.json", "{\"run\": 3");
    EXPECT_NO_THROW(claim_output(dir_ / "damaged", second.dir, "second"));
}

TEST_F(OutputDirTest, OfManyAtOnceOneGetsIt) {
    constexpr int kRuns = 8;
    std::atomic<int> got = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < kRuns; ++i) {
        const RunDirectory run = make_run("run-" + std::to_string(i), RunPhase::Preparing);
        threads.emplace_back([this, &got, run] {
            try {
                claim_output(dir_ / "out", run.dir, run.name());
                ++got;
            } catch (const Error&) {
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(got, 1);
}

TEST_F(OutputDirTest, ThatIsAFileIsAlwaysRefused) {
    write(dir_ / "file", "x");
    EXPECT_THROW(check_output_dir(dir_ / "file", false), Error);
    EXPECT_THROW(check_output_dir(dir_ / "file", true), Error);
}

}  // namespace

}  // namespace ringmaster
