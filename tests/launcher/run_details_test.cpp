#include "launcher/history/run_details.h"

#include "engine/error.h"
#include "tests/launcher/run_fixture.h"

namespace ringmaster {
namespace {

using RunDetailsTest = RunFixture;

TEST_F(RunDetailsTest, ListOnlyCheckpointsThatWereSavedToTheEnd) {
    const RunDirectory run = make_run("llama", RunPhase::Stopped);
    write(run.checkpoints() / "step-00000010/model.safetensors", std::string(3000, 'x'));
    write(run.checkpoints() / "step-00000010/complete", "");
    write(run.checkpoints() / "step-00000020/model.safetensors", "half");
    const RunDetails details = read_details(run);
    ASSERT_EQ(details.checkpoints.size(), 1u);
    EXPECT_EQ(details.checkpoints[0].step, 10);
    EXPECT_EQ(details.checkpoints[0].bytes, 3000);
    EXPECT_GT(details.checkpoints[0].saved, 0);
    EXPECT_EQ(details.config_text, "base_model: x\n");
    EXPECT_EQ(details.files.front().name, "checkpoints/");
    EXPECT_EQ(details.files.front().bytes, 3004);
}

TEST_F(RunDetailsTest, NameTheModelsFolderOnlyWhereThereIsAModelOrAnAdapter) {
    const RunDirectory run = make_run("llama");
    const auto output = dir_ / "out";
    write(run.plan(), "{\"config\": {\"output_dir\": \"" + output.string() + "\"}}");
    EXPECT_TRUE(read_details(run).model_dir.empty());
    for (const char* file : {"config.json", "adapter_config.json"}) {
        write(output / file, "{}");
        EXPECT_EQ(read_details(run).model_dir, output) << file;
        std::filesystem::remove(output / file);
    }
}

TEST_F(RunDetailsTest, OfAFolderThatIsGoneSaySo) {
    const RunDetails details = read_details({dir_ / "runs" / "gone"});
    EXPECT_NE(details.row.problem, "");
    EXPECT_TRUE(details.files.empty());
}

TEST_F(RunDetailsTest, DoNotFollowLinksOutOfTheRun) {
    const RunDirectory run = make_run("llama");
    write(dir_ / "elsewhere/big", std::string(10'000, 'x'));
    std::filesystem::create_directory_symlink(dir_ / "elsewhere", run.dir / "link");
    std::filesystem::create_directory_symlink(run.dir, run.dir / "loop");
    EXPECT_LT(bytes_within(run.dir), 5000);
    EXPECT_EQ(read_details(run).files.size(), 4u);
}

TEST_F(RunDetailsTest, DuplicateWithWhatTheCommandLineSet) {
    const RunDirectory run = make_run("llama");
    std::filesystem::remove(run.config());
    write(run.config(), "base_model: x  # a comment\nsequence_len: 512\n");
    write(run.options(), R"({"config": "/data/long.yaml", "base_dir": "",
        "set": [["sequence_len", "1024"], ["datasets.7.path", "y"], ["broken"], 3]})");
    const Duplicate copy = duplicate_of(run);
    EXPECT_EQ(copy.base_dir, "/data");
    EXPECT_THAT(copy.text, testing::HasSubstr("base_model: x  # a comment\nsequence_len: 1024\n"));
    EXPECT_THAT(copy.text, testing::HasSubstr("datasets.7.path: y"));  // a comment: the file has no such list
}

TEST_F(RunDetailsTest, DuplicateSaysWhereThereIsNoConfiguration) {
    EXPECT_THROW(duplicate_of({dir_ / "gone"}), Error);
}

}  // namespace
}  // namespace ringmaster
