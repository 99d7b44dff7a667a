#include "launcher/prepare.h"

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

TEST_F(OutputDirTest, ThatIsAFileIsAlwaysRefused) {
    write(dir_ / "file", "x");
    EXPECT_THROW(check_output_dir(dir_ / "file", false), Error);
    EXPECT_THROW(check_output_dir(dir_ / "file", true), Error);
}

}  // namespace

}  // namespace ringmaster
