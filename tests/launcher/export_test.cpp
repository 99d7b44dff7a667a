#include "launcher/export.h"

#include "engine/error.h"
#include "tests/launcher/run_fixture.h"

namespace ringmaster {

namespace {

using ExportTest = RunFixture;

// RFC 3720, appendix B.4.
TEST(Crc32c, GivesTheValuesOfTheStandard) {
    EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);
    EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62A8AB43U);
    EXPECT_EQ(crc32c("123456789"), 0xE3069283U);
    EXPECT_EQ(crc32c(""), 0U);
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
