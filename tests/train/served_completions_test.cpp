// Tests the questions to the process that asks a server for completions, and the parser of its answers, with
// correct answers and many kinds of wrong ones.
#include "engine/train/served_completions.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "engine/error.h"

namespace ringmaster {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

ServedQuestion question(bool wants_log_probabilities = true) {
    ServedQuestion asked;
    asked.step = 7;
    asked.weights = "/run/rollouts/weights-00000006";
    asked.asks = {{3, 4}};
    asked.generations = 2;
    asked.vocabulary = 10;
    asked.generation.max_new_tokens = 3;
    asked.generation.stop_ids = {1};
    asked.generation.choice.temperature = 0.5;
    asked.generation.choice.seed = 11;
    asked.wants_log_probabilities = wants_log_probabilities;
    return asked;
}

TEST(ServedCompletions, TheQuestionHoldsAllThatDecidesTheTokens) {
    const std::string line = line_of(question());
    EXPECT_EQ(line.find('\n'), line.size() - 1);
    EXPECT_EQ(json::parse(line).at("sample"), json({{"step", 7},
                                                    {"weights", "/run/rollouts/weights-00000006"},
                                                    {"prompts", {{3, 4}}},
                                                    {"n", 2},
                                                    {"max_tokens", 3},
                                                    {"temperature", 0.5},
                                                    {"top_k", 0},
                                                    {"top_p", 1.0},
                                                    {"seed", 11},
                                                    {"stop_ids", {1}},
                                                    {"vocabulary", 10},
                                                    {"log_probabilities", true}}));
}

TEST(ServedCompletions, GivesTokensAndLogProbabilities) {
    const auto found = completions_in(
        R"({"completions":[[5,1],[9,0,2]],"log_probabilities":[[-1,0],[-0.5,1e-6,-99]]})", question());
    ASSERT_EQ(found.size(), 2U);
    EXPECT_THAT(found[0].ids, ElementsAre(5, 1));
    EXPECT_TRUE(found[0].stopped);
    EXPECT_FALSE(found[1].stopped);
    EXPECT_THAT(found[1].log_probabilities, ElementsAre(-0.5, 1e-6, -99));
    EXPECT_TRUE(completions_in(R"({"completions":[[5],[9]],"log_probabilities":null})", question(false))[0]
                    .log_probabilities.empty());
}

TEST(ServedCompletions, RefusesWhatCannotBeCompletions) {
    const std::string logs = R"(,"log_probabilities":[[-1],[-1]]})";
    const std::pair<std::string, const char*> cases[] = {
        {"nonsense", "does not hold 2"},
        {"[]", "does not hold 2"},
        {R"({"completions":[[5]])" + logs, "does not hold 2"},
        {R"({"completions":[[5],[5],[5]])" + logs, "does not hold 2"},
        {R"({"completions":[[5],[5],[5]],"log_probabilities":[[-1],[-1],[-1]]})", "does not hold 2"},
        {R"({"completions":[[5],[5]]})", "does not hold 2"},
        {R"({"completions":[[5],[]])" + logs, "completion 2 does not have 1 to 3 tokens"},
        {R"({"completions":[[5],[5,5,5,5]])" + logs, "does not have 1 to 3 tokens"},
        {R"({"completions":[[5],5])" + logs, "does not have 1 to 3 tokens"},
        {R"({"completions":[[5],[10]])" + logs, "has a token that the model does not know"},
        {R"({"completions":[[5],[-1]])" + logs, "has a token that the model does not know"},
        {R"({"completions":[[5],[1.0]])" + logs, "has a token that the model does not know"},
        {R"({"completions":[[5],[18446744073709551615]])" + logs, "has a token that the model does not know"},
        {R"({"completions":[[5],["5"]])" + logs, "has a token that the model does not know"},
        {R"({"completions":[[5],[1,5]])" + logs, "goes on after a stop token"},
        {R"({"completions":[[5],[5,6]])" + logs, "does not have a log-probability for each token"},
        {R"({"completions":[[5],[5]],"log_probabilities":[[-1],[0.1]]})",
         "has a value that cannot be a log-probability"},
        {R"({"completions":[[5],[5]],"log_probabilities":[[-1],[-1e999]]})", ""},
        {R"({"completions":[[5],[5]],"log_probabilities":[[-1],[NaN]]})", "does not hold 2"},
        {R"({"completions":[[5],[5]],"log_probabilities":[[-1],[null]]})",
         "has a value that cannot be a log-probability"},
        {R"({"completions":[[5],[5]],"log_probabilities":[[-1],["-1"]]})",
         "has a value that cannot be a log-probability"}};
    for (const auto& [line, what] : cases) {
        try {
            completions_in(line, question());
            ADD_FAILURE() << line;
        } catch (const Error& error) {
            EXPECT_EQ(error.code, "ROLLOUT-SERVER");
            EXPECT_THAT(error.what(), HasSubstr(what)) << line;
        }
    }
}

}  // namespace
}  // namespace ringmaster
