#include "launcher/history/run_notes.h"

#include <sys/stat.h>

#include "engine/error.h"
#include "tests/launcher/run_fixture.h"

namespace ringmaster {
namespace {

using RunNotesFile = RunFixture;

TEST_F(RunNotesFile, ComesBackAsItWasWritten) {
    const RunDirectory run = make_run("llama");
    const RunNotes notes{"the one with \"zigzag\"\nand a second line: größer", {"baseline", "long context"}};
    write_run_notes(run, notes);
    EXPECT_EQ(read_run_notes(run), notes);
}

TEST_F(RunNotesFile, IsEmptyWhereNothingWasWritten) {
    EXPECT_EQ(read_run_notes(make_run("llama")), RunNotes{});
}

TEST_F(RunNotesFile, IsRemovedWhenThereIsNothingToSay) {
    const RunDirectory run = make_run("llama");
    write_run_notes(run, {"x", {}});
    write_run_notes(run, {});
    EXPECT_FALSE(std::filesystem::exists(run.dir / "notes.json"));
}

TEST_F(RunNotesFile, SaysThatItIsDamaged) {
    for (const char* text :
         {"", "{", "[]", "{\"notes\": 3, \"tags\": []}", "{\"notes\": \"\", \"tags\": [1]}"}) {
        const RunDirectory run = make_run("llama" + std::to_string(std::string(text).size()));
        write(run.dir / "notes.json", text);
        EXPECT_THROW(read_run_notes(run), Error) << text;
    }
}

TEST_F(RunNotesFile, DoesNotWaitForAPipeOfItsName) {
    const RunDirectory run = make_run("llama");
    ASSERT_EQ(mkfifo((run.dir / "notes.json").c_str(), 0644), 0);
    EXPECT_THROW(read_run_notes(run), Error);
}

TEST_F(RunNotesFile, LeavesNothingElseBehind) {
    const RunDirectory run = make_run("llama");
    write_run_notes(run, {"x", {"a"}});
    write_run_notes(run, {"y", {"a"}});
    int files = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(run.dir)) ++files;
    EXPECT_EQ(files, 3);  // config.yaml, run.json, notes.json
}

TEST(Tags, AreCutAtCommas) {
    EXPECT_THAT(parse_tags(" long context,baseline ,, baseline,\n"),
                testing::ElementsAre("long context", "baseline"));
    EXPECT_THAT(parse_tags(" , "), testing::IsEmpty());
    EXPECT_EQ(join_tags({"long context", "baseline"}), "long context, baseline");
}

}  // namespace
}  // namespace ringmaster
