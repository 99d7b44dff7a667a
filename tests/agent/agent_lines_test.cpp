#include "launcher/agent/agent_lines.h"

#include <gtest/gtest.h>

#include "launcher/agent/options.h"

namespace ringmaster {
namespace {

RankEnd end_of_rank(int rank) {
    RankEnd end;
    end.rank = rank;
    end.wait_status = 9;
    end.killed_by_us = true;
    end.t = 1.7e9;
    end.place = {{"is-at-work"}, {"in-layer", {"4"}}};
    end.record.last_log_lines = {"one", "two"};
    end.record.error = ErrorEvent{"out of memory", "rank 1"};
    end.record.error_t = 1.7e9;
    return end;
}

TEST(AgentLines, KeepRankEnds) {
    const auto read = rank_ends_from_line(rank_ends_to_line({end_of_rank(0), end_of_rank(1)}));
    ASSERT_TRUE(read);
    ASSERT_EQ(read->size(), 2U);
    const RankEnd& end = read->back();
    EXPECT_EQ(end.rank, 1);
    EXPECT_EQ(end.wait_status, 9);
    EXPECT_TRUE(end.killed_by_us);
    EXPECT_EQ(end.t, 1.7e9);
    EXPECT_EQ(end.place, (Reason{{"is-at-work"}, {"in-layer", {"4"}}}));
    EXPECT_EQ(end.record.last_log_lines, (std::vector<std::string>{"one", "two"}));
    EXPECT_EQ(end.record.error->message, "out of memory");
}

TEST(AgentLines, KeepNodes) {
    const ProcessId process{"gpu1", 42, 77, "boot"};
    const auto read = node_from_line(node_to_line({"gpu1", process, {{4, process}, {5, process}}}));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->host, "gpu1");
    EXPECT_EQ(read->agent.pid, 42);
    ASSERT_EQ(read->ranks.size(), 2U);
    EXPECT_EQ(read->ranks[1].rank, 5);
    EXPECT_EQ(read->ranks[1].process.start_time, 77);
}

TEST(AgentLines, CutLongTextsRatherThanTheLine) {
    RankEnd end = end_of_rank(0);
    end.record.error->message = std::string(1 << 20, 'x');
    end.place = {{"for-sender", {"2", std::string(1 << 20, 'x')}}};
    std::vector<RankEnd> ends(kMaxRanks, end);
    for (int rank = 0; rank < kMaxRanks; ++rank) ends[static_cast<size_t>(rank)].rank = rank;
    for (RankEnd& one : ends) one.record.last_log_lines.assign(5, std::string(300, 'y'));
    const std::string line = rank_ends_to_line(ends);
    EXPECT_LT(line.size(), 2 * kLongestLine);
    EXPECT_TRUE(rank_ends_from_line(rank_ends_to_line({end})));
}

/// Returns whether the reader accepts a good line in which `from` is replaced by `to`.
bool takes_ends(const std::string& from, const std::string& to) {
    std::string line = rank_ends_to_line({end_of_rank(1)});
    const size_t at = line.find(from);
    EXPECT_NE(at, std::string::npos) << line;
    return rank_ends_from_line(line.replace(at, from.size(), to)).has_value();
}

TEST(AgentLines, RefuseWhatIsOutOfRangeOrOfAnotherKind) {
    EXPECT_TRUE(takes_ends("\"rank\":1", "\"rank\":7"));
    for (const char* rank :
         {"-1", "1.5", "1e300", "99999999999999999999", "18446744073709551615", "\"1\"", "null", "[]"})
        EXPECT_FALSE(takes_ends("\"rank\":1", std::string("\"rank\":") + rank)) << rank;
    EXPECT_FALSE(takes_ends("\"t\":1700000000.0", "\"t\":1e999"));
    EXPECT_FALSE(takes_ends("\"wait_status\":9", "\"wait_status\":70000"));
    EXPECT_FALSE(takes_ends("\"unkillable\":false", "\"unkillable\":0"));
    for (const char* place : {"[[]]", "[[4]]", "[4]", "4", "[[\"a\",\"1\",\"2\",\"3\",\"4\"]]"})
        EXPECT_FALSE(takes_ends("[[\"is-at-work\"],[\"in-layer\",\"4\"]]", place)) << place;
    EXPECT_FALSE(takes_ends("\"one\"", "\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\""));
    EXPECT_FALSE(rank_ends_from_line(rank_ends_to_line({end_of_rank(1), end_of_rank(1)})));
    for (const char* line : {"", "{}", "[1]", "null", "[{}]", "[", "\xff\xfe"})
        EXPECT_FALSE(rank_ends_from_line(line));
    EXPECT_FALSE(node_from_line("{\"host\":\"a\"}"));
    EXPECT_FALSE(node_from_line("[]"));
}

TEST(AgentLines, RefuseDepthAndLength) {
    EXPECT_FALSE(rank_ends_from_line(std::string(kLongestLine, '[')));
    EXPECT_FALSE(rank_ends_from_line(std::string(kLongestLine + 1, ' ') + "[]"));
    EXPECT_TRUE(rank_ends_from_line("[]"));
    EXPECT_FALSE(takes_ends("\"log\":[", "\"more\":[[[]]],\"log\":["));
}

TEST(AgentLines, AreWithoutWhatATerminalObeys) {
    RankEnd end = end_of_rank(0);
    end.place = {{"for-sender", {"2", "\x1b[2Jgone"}}};
    EXPECT_EQ(rank_ends_from_line(rank_ends_to_line({end}))->front().place.front().with.back(), " [2Jgone");
}

}  // namespace
}  // namespace ringmaster
