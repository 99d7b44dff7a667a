#include "launcher/run/tokenize.h"

#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "tests/launcher/run_fixture.h"

namespace ringmaster {

namespace {

/// Replaces the Python environment: `python` is a shell script that prints what the tokenizer would print.
class TokenizeTest : public RunFixture {
  protected:
    TokenizeTest() {
        places_.python_env = dir_ / "env";
        places_.share_dir = dir_ / "share";
        places_.tokens_dir = dir_ / "cache";
        write(places_.share_dir / "ringmaster_tokenize.py", "");
    }

    void python_does(const std::string& script) {
        write(places_.python(), "#!/bin/sh\n" + script + "\n");
        std::filesystem::permissions(places_.python(), std::filesystem::perms::owner_all);
    }

    TokenizedRows run() {
        return tokenize({{"datasets", nlohmann::json::array()}}, dir_ / "request.json", places_, progress_);
    }

    Error failure() {
        try {
            run();
        } catch (const Error& problem) {
            return problem;
        }
        return Error(Failure::Refused, Code("INTERNAL-ERROR"), "nothing was thrown");
    }

    Places places_;
    Progress progress_;
};

TEST_F(TokenizeTest, ReadsProgressWarningsAndTheResult) {
    python_does(
        R"(echo '{"phase":"read","of":"a.jsonl","done":3,"total":10}'; echo noise; echo '{"warning":"odd"}'
printf '{"result":{"tokens":"%s/t","rows":7,"eval_tokens":null,"eval_rows":0,"counts":{"read":9,"dropped_long":2,"kept":7},"tokens_total":70,"longest":12,"cached":false}}' "$5")");
    std::vector<std::string> heard;
    progress_.step = [&](const ProgressStep& step) {
        heard.push_back(step.code + " " + step.with.at(0) + " " + std::to_string(step.done) + "/" +
                        std::to_string(step.total));
    };
    progress_.warning = [&](const std::string& text) { heard.push_back(text); };
    const TokenizedRows rows = run();
    EXPECT_EQ(heard, (std::vector<std::string>{"read a.jsonl 3/10", "odd"}));
    EXPECT_EQ(rows.data.rows, 7);
    EXPECT_EQ(rows.data.tokens, (places_.tokens_dir / "t").string()) << "the cache is the fifth argument";
    EXPECT_TRUE(rows.data.eval_tokens.empty());
    EXPECT_EQ(describe_losses(rows), "9 rows read, 7 kept, 2 longer than sequence_len dropped");
    EXPECT_TRUE(std::filesystem::exists(dir_ / "request.json"));
}

TEST_F(TokenizeTest, ItsErrorsAreOurs) {
    python_does(
        R"(echo '{"error":"broken row","where":"rows.jsonl, line 2","hint":"mend it","exit":1}'; exit 1)");
    const Error refused = failure();
    EXPECT_EQ(refused.failure, Failure::Refused);
    EXPECT_EQ(refused.text(), "rows.jsonl, line 2: broken row\n  mend it");
}

TEST_F(TokenizeTest, ItsExitStatusIsOurs) {
    python_does(R"(echo '{"error":"no network","where":"","hint":"","exit":3}'; exit 3)");
    EXPECT_EQ(failure().failure, Failure::Unreachable);
}

TEST_F(TokenizeTest, WhatItSaidBeforeItDiedIsShown) {
    python_does("echo Traceback >&2; kill -9 $$");
    EXPECT_THAT(failure().text(),
                testing::AllOf(testing::HasSubstr("killed by a signal"), testing::HasSubstr("Traceback")));
}

TEST_F(TokenizeTest, AResultWithoutRowsIsNone) {
    python_does(R"(echo '{"result":{}}')");
    EXPECT_THAT(failure().text(), testing::HasSubstr("names no rows"));
}

TEST_F(TokenizeTest, WithoutAnEnvironmentItSaysHowToMakeOne) {
    const Error problem = failure();
    EXPECT_EQ(problem.failure, Failure::Unreachable);
    EXPECT_THAT(problem.text(), testing::HasSubstr("ringmaster setup"));
}

TEST_F(TokenizeTest, IsEndedWhenNobodyWantsIt) {
    python_does("trap 'echo gone > " + (dir_ / "gone").string() +
                "; exit 130' TERM\nwhile :; do sleep 0.05; done");
    int asked = 0;
    progress_.cancelled = [&] { return ++asked > 3; };
    EXPECT_THROW(run(), Cancelled);
    EXPECT_TRUE(std::filesystem::exists(dir_ / "gone"));
}

}  // namespace

}  // namespace ringmaster
