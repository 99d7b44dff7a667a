#include "engine/events/run_claim.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <functional>

#include "engine/error.h"

namespace ringmaster {
namespace {

class Claim : public testing::Test {
  protected:
    Claim() {
        std::string pattern = (std::filesystem::temp_directory_path() / "claim-XXXXXX").string();
        run_ = ::mkdtemp(pattern.data());
    }
    ~Claim() override {
        for (const pid_t child : children_) end(child);
        std::filesystem::remove_all(run_);
    }

    /// Starts another process, which calls `begin` and then waits until the test kills it. Returns its id
    /// after `begin` has returned.
    pid_t elsewhere(const std::function<void()>& begin) {
        int ends[2];
        EXPECT_EQ(::pipe(ends), 0);
        const pid_t child = ::fork();
        if (child == 0) {
            begin();
            [[maybe_unused]] const ssize_t told = ::write(ends[1], "x", 1);
            while (true) ::pause();
        }
        char word = 0;
        ::close(ends[1]);
        EXPECT_EQ(::read(ends[0], &word, 1), 1);
        ::close(ends[0]);
        children_.push_back(child);
        return child;
    }
    void end(pid_t child) {
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
    }
    pid_t held_elsewhere(const std::string& launcher) {
        return elsewhere([&] { new RunClaim(run_, launcher); });  // kept until the process ends
    }

    static std::string refusal(const std::function<void()>& what) {
        try {
            what();
        } catch (const Error& error) {
            EXPECT_EQ(error.failure, Failure::Refused);
            return error.text();
        }
        return "";
    }

    std::filesystem::path run_;
    std::vector<pid_t> children_;
};

TEST_F(Claim, IsHeldByOneProcessAndNamesIt) {
    const pid_t holder = held_elsewhere("first at 127.0.0.1:1");
    const std::string said = refusal([&] { RunClaim(run_, "second at 127.0.0.1:2"); });
    EXPECT_THAT(said, testing::HasSubstr("is run by process " + std::to_string(holder) + " on host"));
    EXPECT_THAT(said, testing::HasSubstr("ringmaster stop"));
}

TEST_F(Claim, EndsWithItsProcess) {
    end(held_elsewhere("first"));
    children_.clear();
    EXPECT_EQ(refusal([&] { RunClaim(run_, "second"); }), "");
    EXPECT_EQ(refusal([&] { RunClaim(run_, "third"); }), "");
}

TEST_F(Claim, LetsTheOtherRanksOfItsLauncherAloneWrite) {
    EXPECT_EQ(refusal([&] { refuse_other_launcher(run_, "first"); }), "");
    const pid_t holder = held_elsewhere("first");
    EXPECT_EQ(refusal([&] { refuse_other_launcher(run_, "first"); }), "");
    EXPECT_NE(refusal([&] { refuse_other_launcher(run_, "second"); }), "");
    end(holder);
    children_.clear();
    EXPECT_EQ(refusal([&] { refuse_other_launcher(run_, "second"); }), "");
}

}  // namespace
}  // namespace ringmaster
