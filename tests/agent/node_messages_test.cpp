/// Tests that each message between agents arrives unchanged, and that a damaged message is rejected.
#include "launcher/agent/node_messages.h"

#include <gtest/gtest.h>

namespace ringmaster {
namespace {

std::optional<NodeMessage> read(const std::string& line) {
    const size_t blank = std::min(line.find(' '), line.size());
    return read_node_message({1, line.substr(0, blank), line.substr(std::min(blank + 1, line.size()))});
}

template <class Message>
Message sent(const Message& message) {
    const auto arrived = read(line_of(message));
    EXPECT_TRUE(arrived && std::holds_alternative<Message>(*arrived)) << line_of(message);
    return arrived ? std::get<Message>(*arrived) : Message{};
}

TEST(NodeMessages, ArriveAsWhatTheyWere) {
    EXPECT_EQ(sent(NodeHere{{"gpu1", {"gpu1", 42, 77, "boot"}, {}}}).node.agent.pid, 42);
    RankEnd end;
    end.rank = 3;
    EXPECT_EQ(sent(RanksEnded{{end}}).ends.at(0).rank, 3);
    EXPECT_TRUE(sent(StopWanted{true}).now);
    EXPECT_FALSE(sent(StopWanted{false}).now);
    sent(RankFailed{});
    for (const RunPhase phase : {RunPhase::Completed, RunPhase::Stopped, RunPhase::Failed}) {
        const RunOver over = sent(RunOver{{phase, {{"rank-status", {"3", "1"}}, {"text", {"\nmore"}}}}});
        EXPECT_EQ(over.verdict.state, phase);
        EXPECT_EQ(english(over.verdict.why), "rank 3 ended with exit status 1");
    }
}

TEST(NodeMessages, ThatAreDamagedMeanTheNodeIsLost) {
    for (const auto& [line, code] : std::map<std::string, std::string>{{"hello {}", "node-garbled-start"},
                                                                       {"ended [{}]", "node-garbled-end"},
                                                                       {"gone", "node-gone"},
                                                                       {"silent", "node-silent"},
                                                                       {"forged", "node-forged"}}) {
        const auto message = read(line);
        ASSERT_TRUE(message && std::holds_alternative<PeerLost>(*message)) << line;
        EXPECT_EQ(std::get<PeerLost>(*message).code, code);
        EXPECT_NE(reason_text(code), nullptr) << code;
    }
    EXPECT_EQ(std::get<PeerLost>(*read("silent")).with, std::vector<std::string>{"20"});
    EXPECT_FALSE(read("sing loudly"));
}

}  // namespace
}  // namespace ringmaster
