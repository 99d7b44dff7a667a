// Runs programs that answer as a process of reward functions may: correctly, wrongly, late, without end, or
// not at all.
#include "engine/train/reward_process.h"

#include <gmock/gmock.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "engine/error.h"

namespace ringmaster {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kReady[] = R"(echo '{"ready":["m.f","m.g"]}'; read question; )";

RewardCommand shell(const std::string& script, int patience_ms = 5000) {
    return {{"/bin/sh", "-c", script}, {"m.f", "m.g"}, std::chrono::milliseconds(patience_ms)};
}

/// Asks a process that runs `script` for the rewards of two completions; returns the error of this.
Error error_of(const std::string& script, int patience_ms = 5000) {
    try {
        RewardProcess process(shell(script, patience_ms));
        process.judge(0, {{0, {1, 2}}, {1, {3}}});
    } catch (const Error& error) {
        return error;
    }
    ADD_FAILURE() << "no error for " << script;
    return Error(Failure::Refused, Code("NONE"), "");
}

TEST(RewardProcess, GivesEachCompletionItsRewards) {
    RewardProcess process(shell(std::string(kReady) + R"(echo '{"running":"m.f"}'
        test "$question" = '{"completions":[[1,2],[3]],"prompts":[0,1],"step":4}' &&
        echo '{"rewards":[[1,-0.5],[null,2e3]]}')"));
    EXPECT_THAT(process.judge(4, {{0, {1, 2}}, {1, {3}}}),
                ElementsAre(ElementsAre(1.0, std::nullopt), ElementsAre(-0.5, 2000.0)));
}

TEST(RewardProcess, RefusesAnswersThatAreNotTheRewards) {
    for (const char* answer : {"nonsense", "[]", "{}", R"({"rewards":3})", R"({"rewards":[[1,2]]})",
                               R"({"rewards":[[1,2],[1]]})", R"({"rewards":[[1,2],[1,"2"]]})",
                               R"({"rewards":[[1,2],[1,1e999]]})", R"({"rewards":[[1,2],[1,NaN]]})",
                               R"({"rewards":[[1,2],[1,[2]]]})", R"({"rewards":[[1,2],[1,true]]})"}) {
        const Error error = error_of(kReady + ("echo '" + std::string(answer) + "'; sleep 5"));
        EXPECT_EQ(error.code, "REWARD-FUNCTION") << answer;
    }
}

TEST(RewardProcess, NamesTheFunctionThatFails) {
    EXPECT_EQ(
        error_of(std::string(kReady) + R"(echo '{"error":"KeyError","where":"reward function m.f"}')").where,
        "reward function m.f");
    const Error late = error_of(std::string(kReady) + R"(echo '{"running":"m.g"}'; sleep 60)", 300);
    EXPECT_EQ(late.where, "reward function m.g");
    EXPECT_THAT(late.what(), HasSubstr("did not answer"));
    EXPECT_THAT(error_of(std::string(kReady) + R"(echo '{"running":"m.g"}'; kill -9 $$)").where,
                HasSubstr("m.g"));
}

TEST(RewardProcess, DoesNotReadAnEndlessAnswer) {
    EXPECT_THAT(error_of(std::string(kReady) + "yes | tr -d '\\n'").what(), HasSubstr("longer"));
    EXPECT_THAT(error_of("yes | tr -d '\\n'").what(), HasSubstr("longer"));
}

TEST(RewardProcess, PassesWarningsOnAndStopsWaitingAfterOne) {
    const std::string script = std::string(kReady) + R"(echo '{"warning":"the server is away"}'; sleep 0.4;
        echo '{"completions":[[1]]}'; read more; sleep 60)";
    std::vector<std::string> said;
    AnswerRules asking{"ROLLOUT-SERVER", "server", "hint", std::chrono::seconds(20)};
    asking.warn = [&](const std::string& text) { said.push_back(text); };
    asking.stops = [] { return false; };
    RewardProcess patient(shell(script));
    EXPECT_EQ(patient.ask("{}\n", 1000, asking), R"({"completions":[[1]]})");
    EXPECT_THAT(said, ElementsAre("the server is away"));
    asking.stops = [] { return true; };
    EXPECT_EQ(RewardProcess(shell(script)).ask("{}\n", 1000, asking), std::nullopt);
    EXPECT_EQ(RewardProcess(shell(std::string(kReady) + "sleep 0.4; echo '{}'; sleep 60"))
                  .ask("{}\n", 1000, asking),
              "{}")
        << "without a warning it waits";
    try {
        RewardProcess(shell(std::string(kReady) + R"(echo '{"error":"refused","where":"server x"}')"))
            .ask("{}\n", 1000, asking);
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code, "ROLLOUT-SERVER");
        EXPECT_EQ(error.where, "server x");
    }
}

TEST(RewardProcess, TellsHowLongItWaitsAndStopsAtOnceIfAsked) {
    const std::string script = std::string(kReady) +
                               R"(echo '{"waiting":{"seconds":3,"timeout":60}}'; echo '{"waiting":[1]}';
        sleep 0.4; echo '{"rows":1}'; sleep 60)";
    std::vector<std::pair<int64_t, int64_t>> told;
    AnswerRules asking{"ROLLOUT-FOLDER", "/in", "hint", std::chrono::seconds(20)};
    asking.waits = [&](int64_t seconds, int64_t allowed) { told.emplace_back(seconds, allowed); };
    asking.stops = [] { return true; };
    EXPECT_EQ(RewardProcess(shell(script)).ask("{}\n", 1000, asking), R"({"rows":1})");
    EXPECT_THAT(told, ElementsAre(std::pair(3, 60), std::pair(0, 0)));
    asking.stops_at_once = true;
    EXPECT_EQ(RewardProcess(shell(script)).ask("{}\n", 1000, asking), std::nullopt);
}

TEST(RewardProcess, RefusesAProgramThatIsMissingOrKnowsOtherFunctions) {
    EXPECT_THROW(RewardProcess({{"/nowhere/python"}, {"m.f"}}), Error);
    EXPECT_THAT(error_of(R"(echo '{"ready":["m.f"]}'; sleep 5)").what(), HasSubstr("did not name"));
}

TEST(RewardProcess, EndsAllThatItStarted) {
    const std::filesystem::path file =
        std::filesystem::path(testing::TempDir()) / ("child-" + std::to_string(getpid()));
    { RewardProcess process(shell("sleep 1000 & echo $! > " + file.string() + "; " + kReady)); }
    pid_t child = 0;
    std::ifstream(file) >> child;
    ASSERT_GT(child, 0);
    const auto is_gone = [&] {
        std::string word, state;
        std::ifstream stat("/proc/" + std::to_string(child) + "/stat");
        return !(stat >> word >> word >> state) || state == "Z";
    };
    for (int i = 0; i < 200 && !is_gone(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_TRUE(is_gone());
}

}  // namespace
}  // namespace ringmaster
