#include "launcher/agent/rank_record.h"

#include <gtest/gtest.h>

#include <fstream>

#include "engine/events/event_log.h"

namespace ringmaster {
namespace {

namespace fs = std::filesystem;

StepEvent step_event(int64_t step) {
    StepEvent event;
    event.step = step;
    return event;
}

class Record : public testing::Test {
  protected:
    Record() {
        std::string pattern = (fs::temp_directory_path() / "record-XXXXXX").string();
        dir_ = ::mkdtemp(pattern.data());
        fs::create_directory(dir_ / "logs");
    }
    ~Record() override { fs::remove_all(dir_); }

    void log(const std::string& text) const {
        std::ofstream(dir_ / "logs" / log_file_name(3), std::ios::app) << text;
    }
    RankRecord read(const RankOffsets& from = {}) const { return read_rank_record(dir_, 3, from, true); }

    fs::path dir_;
};

TEST_F(Record, HoldsWhatTheAttemptCameTo) {
    EventWriter events(dir_ / "events", 3);
    events.write(ErrorEvent{"of the attempt before", ""});
    const RankOffsets now = offsets_now(dir_, 3);
    HelloEvent hello;
    hello.start_step = 4;
    events.write(hello);
    events.write(step_event(5));
    events.write(CheckpointEvent{5, "checkpoints/step-5", 0.5});
    events.write(step_event(6));
    RankRecord record = read(now);
    EXPECT_EQ(record.start_step, 4);
    EXPECT_EQ(record.step, 6);
    EXPECT_EQ(record.checkpoint->path, "checkpoints/step-5");
    EXPECT_FALSE(record.done);
    EXPECT_FALSE(record.error);
    events.write(DoneEvent{6, "stopped"});
    EXPECT_EQ(read(now).done->state, "stopped");
    events.write(WarningEvent{"MLflow has no client", "tracking"});
    EXPECT_TRUE(read(now).done) << "a tracker may warn after the end";
    events.write(ErrorEvent{"first", "here"});
    events.write(ErrorEvent{"second", ""});
    record = read(now);
    EXPECT_FALSE(record.done) << "it is not the last event any more";
    EXPECT_EQ(record.error->message, "first");
    EXPECT_GT(record.error_t, 1.6e9);
}

TEST_F(Record, ShowsTheLastFiveLinesOfTheAttemptsLog) {
    log("of the attempt before\n");
    const RankOffsets now = offsets_now(dir_, 3);
    EXPECT_TRUE(read(now).last_log_lines.empty());
    log("1\n2\n\n3\r\n4\nbar 10%\rbar\x1b[31m 20%\n6");
    EXPECT_EQ(read(now).last_log_lines, (std::vector<std::string>{"3", "4", "bar 10%", "bar [31m 20%", "6"}));
    log(std::string(1 << 20, 'x'));
    ASSERT_EQ(read(now).last_log_lines.size(), 1u);
    EXPECT_LT(read(now).last_log_lines[0].size(), 310u);
}

TEST_F(Record, OfMissingOrStrangeFilesIsEmpty) {
    EXPECT_FALSE(read().step);
    fs::create_directories(dir_ / "events" / event_file_name(3));
    fs::create_directories(dir_ / "logs" / log_file_name(3));
    EXPECT_EQ(offsets_now(dir_, 3).events, 0);
    EXPECT_FALSE(read().step);
    EXPECT_TRUE(read().last_log_lines.empty());
}

TEST_F(Record, IsReadInFullOnlyWhereAskedFor) {
    EventWriter events(dir_ / "events", 3);
    events.write(CheckpointEvent{1, "checkpoints/step-1", 0.5});
    for (int i = 0; i < 40; ++i) events.write(WarningEvent{std::string(40'000, 'x'), ""});
    events.write(DoneEvent{9, "completed"});
    EXPECT_TRUE(read_rank_record(dir_, 3, {}, true).checkpoint);
    EXPECT_FALSE(read_rank_record(dir_, 3, {}, false).checkpoint);
    EXPECT_TRUE(read_rank_record(dir_, 3, {}, false).done);
}

}  // namespace
}  // namespace ringmaster
