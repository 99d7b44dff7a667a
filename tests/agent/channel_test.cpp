#include "launcher/agent/channel.h"

#include <gtest/gtest.h>

#include <vector>

namespace ringmaster {
namespace {

constexpr const char* kSecret = "0123456789abcdef0123456789abcdef";

struct Ends {
    Channel first, other;
    std::vector<std::string> from_other, from_first;

    Ends(const std::string& secret_first, const std::string& secret_other, int node = 1)
        : first(Channel::of_first(secret_first, 3)), other(Channel::of_other(secret_other, node)) {}

    /// Exchanges greetings; returns false if one of the two ends the connection.
    bool meet() {
        from_other.push_back(other.opening());
        while (!first.is_proven() || !other.is_proven()) {
            const auto answer = first.greet(from_other.back());
            if (!answer) return false;
            from_first.push_back(*answer);
            const auto next = other.greet(*answer);
            if (!next) return false;
            from_other.push_back(*next);
        }
        return true;
    }
};

TEST(Channel, ProvesBothEndsWithoutTellingTheSecret) {
    Ends ends(kSecret, kSecret, 2);
    ASSERT_TRUE(ends.meet());
    EXPECT_EQ(ends.first.node(), 2);
    for (const auto* lines : {&ends.from_first, &ends.from_other}) {
        for (const std::string& line : *lines) {
            EXPECT_EQ(line.find(kSecret), std::string::npos);
            EXPECT_LE(line.size(), Channel::kLongestGreeting);
        }
    }
    EXPECT_EQ(ends.first.opened_line(ends.other.sealed_line("hello {}")), "hello {}");
    EXPECT_EQ(ends.other.opened_line(ends.first.sealed_line("stop")), "stop");
    EXPECT_EQ(ends.first.opened_line(ends.other.sealed_line("")), "");
}

TEST(Channel, RefusesWhoHoldsAnotherSecretOnEitherSide) {
    Ends wrong_other(kSecret, "another secret of 16 bytes");
    EXPECT_FALSE(wrong_other.meet());
    EXPECT_FALSE(wrong_other.first.is_proven());
    Channel other = Channel::of_other(kSecret, 1);
    Channel impostor = Channel::of_first("another secret of 16 bytes", 3);
    const std::string proof = *other.greet(*impostor.greet(other.opening()));
    EXPECT_EQ(impostor.greet(proof), std::nullopt);
    EXPECT_EQ(other.greet("proof " + std::string(64, '0')), std::nullopt);
    EXPECT_FALSE(other.is_proven());
}

TEST(Channel, RefusesARecordedGreeting) {
    Ends ends(kSecret, kSecret);
    ASSERT_TRUE(ends.meet());
    Channel again = Channel::of_first(kSecret, 3);
    ASSERT_TRUE(again.greet(ends.from_other[0]));
    EXPECT_EQ(again.greet(ends.from_other[1]), std::nullopt);
    Channel comes_again = Channel::of_other(kSecret, 1);  // receives the recorded answers of node 0
    ASSERT_TRUE(comes_again.greet(ends.from_first[0]));
    EXPECT_EQ(comes_again.greet(ends.from_first[1]), std::nullopt);
}

TEST(Channel, RefusesItsOwnProofSentBack) {
    Channel first = Channel::of_first(kSecret, 3), other = Channel::of_other(kSecret, 1);
    const std::string proof = *other.greet(*first.greet(other.opening()));
    EXPECT_EQ(other.greet(proof), std::nullopt);
}

TEST(Channel, RefusesLinesThatAreChangedRepeatedLeftOutOrOfTheOtherDirection) {
    Ends ends(kSecret, kSecret);
    ASSERT_TRUE(ends.meet());
    const std::string one = ends.other.sealed_line("beat"), two = ends.other.sealed_line("asked now");
    EXPECT_EQ(ends.first.opened_line(two), std::nullopt);  // the first line is missing
    EXPECT_EQ(ends.first.opened_line(one), "beat");
    EXPECT_EQ(ends.first.opened_line(one), std::nullopt);
    std::string changed = two;
    changed.back() = 'W';
    EXPECT_EQ(ends.first.opened_line(changed), std::nullopt);
    EXPECT_EQ(ends.other.opened_line(two), std::nullopt);
    EXPECT_EQ(ends.first.opened_line("asked now"), std::nullopt);
    EXPECT_EQ(ends.first.opened_line(two), "asked now");
}

TEST(Channel, RefusesWhatIsNoGreeting) {
    const std::string nonce(32, 'a');
    for (const std::string& line :
         {std::string(), std::string("agent 2"), std::string("agent 2 1"), "agent 2 0 " + nonce,
          "agent 2 3 " + nonce, "agent 2 -1 " + nonce, "agent 2 99999999999 " + nonce, "agent 2 1x " + nonce,
          "agent 2 1 " + nonce + "a", "agent 2 1 " + std::string(32, 'A'), "agent 2 1  " + nonce,
          "hello " + nonce + " 1 {}", "proof " + nonce, std::string("GET / HTTP/1.1"),
          std::string(100, '\0')}) {
        Channel first = Channel::of_first(kSecret, 3);
        EXPECT_EQ(first.greet(line), std::nullopt) << line;
    }
    Channel first = Channel::of_first(kSecret, 3);
    EXPECT_TRUE(first.greet("agent 2 1 " + nonce));
    EXPECT_EQ(first.greet("agent 2 1 " + nonce), std::nullopt);
}

}  // namespace
}  // namespace ringmaster
