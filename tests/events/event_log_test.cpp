#include "engine/events/event_log.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>
#include <functional>
#include <thread>

#include "engine/error.h"

namespace ringmaster {
namespace {

namespace fs = std::filesystem;

class EventLog : public testing::Test {
  protected:
    EventLog() {
        std::string pattern = (fs::temp_directory_path() / "events-XXXXXX").string();
        dir_ = ::mkdtemp(pattern.data());
    }
    ~EventLog() override { fs::remove_all(dir_); }

    fs::path file(int rank = 0) const { return dir_ / event_file_name(rank); }
    void append(const std::string& text) const { std::ofstream(file(), std::ios::app) << text; }
    static std::string phase(int done) { return to_json_line({1, 0, PhaseEvent{"load", done, 9}}) + "\n"; }
    static std::vector<int64_t> done_of(const std::vector<EventLine>& lines) {
        std::vector<int64_t> done;
        for (const EventLine& line : lines) done.push_back(std::get<PhaseEvent>(line.event).done);
        return done;
    }
    static std::string refusal(const std::function<void()>& act) {
        try {
            act();
        } catch (const Error& error) {
            EXPECT_EQ(error.failure, Failure::Refused);
            return error.text();
        }
        return "nothing was refused";
    }

    fs::path dir_;
};

using Done = std::vector<int64_t>;

TEST_F(EventLog, NamesFilesByRankWithFiveDigits) {
    EXPECT_EQ(event_file_name(3), "rank-00003.jsonl");
    EXPECT_EQ(log_file_name(123456), "rank-123456.log");
}

TEST_F(EventLog, WritesAFolderAndALineAnEventAtOnce) {
    EventWriter writer(dir_ / "run" / "events", 3);
    EventReader reader(dir_ / "run" / "events" / "rank-00003.jsonl");
    EXPECT_TRUE(reader.poll().empty());
    for (int i = 0; i < 3; ++i) {
        writer.write(PhaseEvent{"load", i, 9});
        const std::vector<EventLine> lines = reader.poll();
        EXPECT_EQ(done_of(lines), Done{i});
        EXPECT_EQ(lines.at(0).rank, 3);
        EXPECT_GT(lines.at(0).t, 1.6e9);
    }
}

TEST_F(EventLog, ClosesTheHalfLineOfAnEarlierAttempt) {
    append(phase(1) + phase(2).substr(0, 20));
    EventWriter(dir_, 0).write(PhaseEvent{"load", 3, 9});
    EXPECT_EQ(done_of(EventReader(file()).poll()), (Done{1, 3}));
}

TEST_F(EventLog, RefusesWhatCannotBeWrittenByItsName) {
    fs::create_directory(file(1));
    EXPECT_NE(refusal([&] { EventWriter(dir_, 1); }).find(file(1).string()), std::string::npos);
    ASSERT_EQ(::mkfifo(file(2).c_str(), 0600), 0);
    EXPECT_NE(refusal([&] { EventWriter(dir_, 2); }).find("not a regular file"), std::string::npos);
    append("");
    EXPECT_NE(refusal([&] { EventWriter(file(), 0); }).find(file().string()), std::string::npos);
}

TEST_F(EventLog, SaysThatTheDiskIsFull) {
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    std::signal(SIGXFSZ, SIG_IGN);
    EventWriter writer(dir_, 0);
    writer.write(PhaseEvent{"load", 1, 9});
    rlimit tight{fs::file_size(file()) + 10, before.rlim_max};  // leaves room for half a line
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tight), 0);
    const std::string half = refusal([&] { writer.write(PhaseEvent{"load", 2, 9}); });
    const std::string none = refusal([&] { writer.write(PhaseEvent{"load", 2, 9}); });
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    EXPECT_NE(half.find(file().string() + ": cannot be written: No space left"), std::string::npos) << half;
    EXPECT_NE(none.find(file().string() + ": cannot be written"), std::string::npos) << none;
    writer.write(PhaseEvent{"load", 3, 9});  // there is room again; the half line does not spoil the next one
    EXPECT_EQ(done_of(EventReader(file()).poll()), (Done{1, 3}));
}

TEST_F(EventLog, IsReadByWholeLinesOnly) {
    EventReader reader(file());
    EXPECT_TRUE(reader.poll().empty());  // the file does not exist yet
    const std::string line = phase(2);
    append(phase(1) + line.substr(0, 30));
    EXPECT_EQ(done_of(reader.poll()), Done{1});
    EXPECT_EQ(reader.offset(), static_cast<int64_t>(phase(1).size()));
    EXPECT_TRUE(reader.poll().empty());
    append(line.substr(30));
    EXPECT_EQ(done_of(reader.poll()), Done{2});
}

TEST_F(EventLog, IsFollowedFromAnyOffset) {
    append(phase(1) + phase(2) + phase(3));
    const auto size = static_cast<int64_t>(phase(1).size());
    EXPECT_EQ(done_of(EventReader(file(), size).poll()), (Done{2, 3}));
    EXPECT_EQ(done_of(EventReader(file(), size + 5).poll()), Done{3});  // starts in the middle of a line
}

TEST_F(EventLog, SkipsDamagedAndEndlessLines) {
    append(phase(1) + "{\"type\":\n" + std::string(300'000, 'x') + phase(2) + "\n" + std::string(3, '\0') +
           "\n" + phase(3));
    EventReader reader(file());
    Done done;
    for (auto lines = reader.poll(1); !lines.empty(); lines = reader.poll(1)) {
        for (int64_t one : done_of(lines)) done.push_back(one);
    }
    EXPECT_EQ(done, (Done{1, 3}));
    EXPECT_EQ(reader.offset(), static_cast<int64_t>(fs::file_size(file())));
}

TEST_F(EventLog, ComesInPiecesThatLoseNothing) {
    std::string text;
    Done all;
    for (int i = 0; i < 5000; ++i) {
        text += phase(i);
        all.push_back(i);
    }
    append(text);
    EventReader reader(file());
    Done done;
    int pieces = 0;
    for (auto lines = reader.poll(64 << 10); !lines.empty(); lines = reader.poll(64 << 10), ++pieces) {
        for (int64_t one : done_of(lines)) done.push_back(one);
    }
    EXPECT_EQ(done, all);
    EXPECT_GT(pieces, 2);
}

TEST_F(EventLog, IsReadAnewAfterItWasMadeAnew) {
    append(phase(1) + phase(2));
    EventReader reader(file());
    reader.poll();
    std::ofstream(file(), std::ios::trunc) << phase(7);
    EXPECT_EQ(done_of(reader.poll()), Done{7});
}

TEST_F(EventLog, ReadsNothingFromWhatIsNoRegularFile) {
    fs::create_directory(file(1));
    EXPECT_TRUE(EventReader(file(1)).poll().empty());
    ASSERT_EQ(::mkfifo(file(2).c_str(), 0600), 0);
    EXPECT_TRUE(EventReader(file(2), 5).poll().empty());
}

TEST_F(EventLog, IsFollowedWhileItGrows) {
    constexpr int kEvents = 3000;
    std::thread rank([&] {
        EventWriter writer(dir_, 0);
        for (int i = 0; i < kEvents; ++i) writer.write(PhaseEvent{"load", i, kEvents});
    });
    EventReader reader(file());
    int64_t next = 0;
    while (next < kEvents) {
        for (int64_t one : done_of(reader.poll())) ASSERT_EQ(one, next++);
        std::this_thread::yield();
    }
    rank.join();
}

}  // namespace
}  // namespace ringmaster
