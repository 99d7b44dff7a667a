#include <pty.h>
#include <sys/mount.h>

#include "tests/agent/agent_run.h"

namespace ringmaster {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

using Agent = AgentRun;

const Reason kCompleted{{"completed-after", {"3"}}};

/// Returns the codes of a reason's parts.
std::vector<std::string> codes_of(const Reason& why) {
    std::vector<std::string> codes;
    for (const ReasonPart& part : why) codes.push_back(part.code);
    return codes;
}

TEST_F(Agent, RunsItsRanksToTheEnd) {
    const Ended end = ended(2);
    EXPECT_EQ(end.status, 0);
    EXPECT_EQ(end.said, "");
    const RunState run = state();
    EXPECT_EQ(run.state, RunPhase::Completed);
    EXPECT_EQ(run.why, kCompleted);
    EXPECT_EQ(run.reason, english(kCompleted));
    EXPECT_EQ(run.name, "tiny");
    EXPECT_EQ(run.attempt, 1);
    EXPECT_EQ(run.ranks, 2);
    EXPECT_GT(run.created, 1.6e9);
    EXPECT_LE(run.created, run.started);
    EXPECT_LE(run.started, run.ended);
    EXPECT_EQ(run.nodes.at(0).ranks.size(), 2u);
    EXPECT_EQ(run.nodes.at(0).agent.pid, run.writer.pid);
    EXPECT_EQ(content_of(run_ / "logs" / log_file_name(1)), "step 1\nstep 2\nstep 3\n");
    EXPECT_THAT(content_of(run_ / "agent.log"), HasSubstr(english(kCompleted)));
    EXPECT_FALSE(fs::exists(run_ / "run.json.reserve"));
}

TEST_F(Agent, TellsEachRankWhoItIs) {
    environment_ = {"OMP_NUM_THREADS=7", "RANK=99", "TORCHELASTIC_USE_AGENT_STORE=True"};
    auto arguments = agent_arguments(2);
    arguments.insert(arguments.end(), {"--attempt", "4"});
    EXPECT_EQ(ended(arguments).status, 0);
    const std::string common =
        "LOCAL_WORLD_SIZE=2\nGROUP_RANK=0\nNODE_RANK=0\nMASTER_ADDR=127.0.0.1\nTORCHELASTIC_RUN_ID=tiny\n"
        "TORCHELASTIC_RESTART_COUNT=0\nRINGMASTER_ATTEMPT=4\nTORCHELASTIC_USE_AGENT_STORE=\nOMP_NUM_THREADS="
        "7\n"
        "agent_is_parent=1\n";
    EXPECT_EQ(content_of(run_ / "traces-0"),
              "RANK=0\nWORLD_SIZE=2\nLOCAL_RANK=0\n" + common +
                  "store_listens_at=127.0.0.1\nother_descriptors=1\nresume=auto\n");
    EXPECT_EQ(content_of(run_ / "traces-1"), "RANK=1\nWORLD_SIZE=2\nLOCAL_RANK=1\n" + common +
                                                 "store_listens_at=\nother_descriptors=0\nresume=auto\n");
    EXPECT_EQ(state().attempt, 4);
}

TEST_F(Agent, KeepsNameAndBirthOfTheRunAndCountsItsAttempts) {
    RunState before;
    before.name = "given";
    before.created = 12345;
    before.attempt = 2;
    write_run_state(run_, before);
    EXPECT_EQ(ended(1).status, 0);
    EXPECT_EQ(state().name, "given");
    EXPECT_EQ(state().created, 12345);
    EXPECT_EQ(state().attempt, 3);
}

TEST_F(Agent, StartsACompletedRunFromScratchUnlessToldWhatToResume) {
    EXPECT_EQ(ended(1).status, 0);
    EXPECT_EQ(ended(1).status, 0);
    EXPECT_THAT(content_of(run_ / "traces-0"), HasSubstr("resume=none\n"));
    auto arguments = agent_arguments(1);
    arguments.insert(arguments.end(), {"--resume", "latest"});
    EXPECT_EQ(ended(arguments).status, 0);
    EXPECT_THAT(content_of(run_ / "traces-0"), HasSubstr("resume=latest\n"));
}

TEST_F(Agent, StartsWithoutStandardDescriptors) {
    const pid_t agent = ::fork();
    if (agent == 0) {
        for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::close(fd);
        become(agent_arguments(2));
    }
    started_.push_back(agent);
    EXPECT_EQ(wait_for(agent).status, 0);
    EXPECT_EQ(state().state, RunPhase::Completed);
    EXPECT_THAT(content_of(run_ / "agent.log"), HasSubstr(english(kCompleted)));
}

TEST_F(Agent, StartsSixtyFourRanks) {
    EXPECT_EQ(ended(64).status, 0);
    EXPECT_EQ(state().state, RunPhase::Completed);
    EXPECT_EQ(state().nodes.at(0).ranks.size(), 64u);
    EXPECT_EQ(steps_of(63), 3);
}

TEST_F(Agent, FailsTheRunByTheRankThatWasKilled) {
    script({"steps=0 peer=1", "steps=0", "steps=0"});
    const pid_t agent = start(3);
    wait_until_training(3);
    ::kill(static_cast<pid_t>(state().nodes[0].ranks[1].process.pid), SIGKILL);
    EXPECT_EQ(wait_for(agent).status, 1);
    EXPECT_EQ(state().state, RunPhase::Failed);
    EXPECT_EQ(state().failed_rank, 1);
    EXPECT_EQ(state().why.at(0), (ReasonPart{"rank-signal", {"1", "9", "Killed"}}));
    EXPECT_EQ(state().why.at(1).code, "log-end");
    EXPECT_THAT(state().why.at(1).with.at(0), StartsWith("\n  step"));
    EXPECT_TRUE(are_gone(state()));
}

TEST_F(Agent, QuotesTheErrorOfTheRankThatFailed) {
    script({"steps=0 hang at=2", "steps=0 at=2 error=the_loss_is_nan"});
    EXPECT_EQ(ended(2).status, 1);
    EXPECT_EQ(state().state, RunPhase::Failed);
    EXPECT_EQ(state().why, (Reason{{"rank-status", {"1", "1"}}, {"error", {"rank 1: the loss is nan"}}}));
    EXPECT_TRUE(are_gone(state())) << "a rank that is deaf to SIGTERM ends as well";
}

TEST_F(Agent, ShowsTheLogOfARankThatLeftWithoutAWord) {
    script({"at=2 exit=7"});
    EXPECT_EQ(ended(1).status, 1);
    EXPECT_EQ(state().why,
              (Reason{{"rank-status", {"0", "7"}},
                      {"log-end", {"\n  step 1\n  step 2\n  about to give up\n  this is why"}}}));
}

TEST_F(Agent, DoesNotTakeAQuietEndForCompletion) {
    script({"at=1 quiet", "at=1 quiet"});
    EXPECT_EQ(ended(2).status, 1);
    EXPECT_EQ(state().state, RunPhase::Failed);
    EXPECT_EQ(state().why.at(0), ReasonPart{"not-done"});
}

TEST_F(Agent, IsNotFooledByTheEventsOfAnEarlierAttempt) {
    EXPECT_EQ(ended(1).status, 0);
    script({"at=1 quiet"});
    EXPECT_EQ(ended(1).status, 1);
    EXPECT_EQ(state().state, RunPhase::Failed);
    EXPECT_EQ(state().attempt, 2);
}

TEST_F(Agent, EndsARunOfWhichARankIsStoppedAndTellsEveryLogWhereItWas) {
    script({"steps=0 waits=1", "steps=0 at=5 hang", "steps=0 waits=1"});
    const pid_t agent = start(3);
    wait_until_training(3);
    wait_until("step 5", [&] { return steps_of(1) == 5; });
    ::kill(static_cast<pid_t>(state().nodes[0].ranks[1].process.pid), SIGSTOP);
    EXPECT_EQ(wait_for(agent).status, 1);
    const RunState end = state();
    EXPECT_EQ(end.state, RunPhase::Failed);
    EXPECT_EQ(end.code, "RANK-STOPPED");
    const Reason named = {{"rank-stopped", {"1", "SIGSTOP", "10"}},
                          {"and-it"},
                          {"is-at-work"},
                          {"in-hop", {"4", "1"}},
                          {"in-forward", {"5", "1"}},
                          {"end-of-place"}};
    ASSERT_GT(end.why.size(), named.size());
    EXPECT_EQ(Reason(end.why.begin(), end.why.begin() + 6), named);
    EXPECT_THAT(
        end.why,
        testing::IsSupersetOf(Reason{
            {"place-of-rank", {"2"}}, {"waits"}, {"in-hop", {"4", "2"}}, {"for-sender", {"1", "keys"}}}));
    for (int rank = 0; rank < 3; ++rank) {
        EXPECT_THAT(content_of(run_ / "logs" / log_file_name(rank)),
                    HasSubstr("agent: the run failed: " + english(named)));
    }
    EXPECT_THAT(content_of(run_ / "logs" / log_file_name(2)),
                HasSubstr("; this rank" + english({{"waits"}, {"in-hop", {"4", "2"}}})));
    EXPECT_TRUE(are_gone(state()));
}

TEST_F(Agent, NamesTheRankThatKeptAnotherWaitingInVain) {
    script({"steps=0 waits=1 at=6 error=xyz cause=timeout", "steps=0 at=5 hang"});
    const pid_t agent = start(2);
    EXPECT_EQ(wait_for(agent).status, 1);
    const Reason why = state().why;
    EXPECT_THAT(codes_of(why),
                testing::ElementsAre("rank-status", "error", "rank-kept-waiting", "is-at-work", "in-hop",
                                     "in-forward", "end-of-place", "place-of-rank", "waits", "in-hop",
                                     "for-sender", "in-forward", "in-transfer", "place-of-rank", "is-at-work",
                                     "in-hop", "in-forward", "end-of-place"));
    EXPECT_EQ(why.at(1).with.at(0), "rank 0: xyz");
    EXPECT_EQ(why.at(2).with, std::vector<std::string>{"1"});
    EXPECT_THAT(content_of(run_ / "logs" / log_file_name(1)), HasSubstr(english({why.at(1)})));
}

TEST_F(Agent, StartsAFailedRunAgainFromItsNewestCheckpoint) {
    environment_ = {"SCRIPT_1=at=2 signal=9 attempt=1"};
    auto arguments = agent_arguments(2);
    arguments.insert(arguments.end(), {"--restarts", "3"});
    EXPECT_EQ(ended(arguments).status, 0);
    EXPECT_EQ(state().state, RunPhase::Completed);
    EXPECT_EQ(state().attempt, 2);
    EXPECT_EQ(state().nodes.at(0).ranks.size(), 2u) << "those of the attempt before are gone";
    EXPECT_THAT(content_of(run_ / "traces-1"), HasSubstr("resume=latest"));
    EXPECT_THAT(content_of(run_ / "agent.log"),
                AllOf(HasSubstr("attempt 1 failed: " + english({{"rank-signal", {"1", "9", "Killed"}}})),
                      HasSubstr("2 restarts are left")));
}

TEST_F(Agent, SetsLaterCheckpointsAsideBeforeAnyRankStarts) {
    const std::filesystem::path checkpoints = run_ / "checkpoints";
    for (const char* step : {"step-00000002", "step-00000004", "step-00000006"}) {
        std::filesystem::create_directories(checkpoints / step);
        std::ofstream(checkpoints / step / "complete").flush();
    }
    environment_ = {"SCRIPT_0=at=1 signal=9"};
    auto arguments = agent_arguments(1);
    arguments.insert(arguments.end(), {"--resume", "2"});
    EXPECT_EQ(ended(arguments).status, 1);
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(checkpoints))
        names.push_back(entry.path().filename());
    EXPECT_THAT(names, testing::UnorderedElementsAre("step-00000002", "step-00000004.abandoned-by-attempt-1",
                                                     "step-00000006.abandoned-by-attempt-1"));
}

TEST_F(Agent, GivesUpWhenItsRestartsAreUsedUp) {
    environment_ = {"SCRIPT_1=at=2 signal=9"};
    auto arguments = agent_arguments(2);
    arguments.insert(arguments.end(), {"--restarts", "2"});
    EXPECT_EQ(ended(arguments).status, 1);
    EXPECT_EQ(state().state, RunPhase::Failed);
    EXPECT_EQ(state().attempt, 3);
}

TEST_F(Agent, LeavesNothingRunningThatARankStarted) {
    script({"at=1 leave"});
    EXPECT_EQ(ended(1).status, 1);
    const pid_t left = std::stoi(content_of(run_ / "left-behind"));
    wait_until("the end of the rank's own child", [&] { return !find_process(left); });
}

TEST_F(Agent, StopsAndSavesWhenAsked) {
    for (int signal : {SIGTERM, SIGINT}) {
        script({"steps=0 slow=1000", "steps=0"});
        const pid_t agent = start(2);
        wait_until_training(2);
        ::kill(agent, signal);
        wait_until("the state stopping", [&] { return state().state == RunPhase::Stopping; });
        EXPECT_EQ(wait_for(agent).status, 0);
        EXPECT_EQ(state().state, RunPhase::Stopped);
        EXPECT_THAT(codes_of(state().why), testing::ElementsAre("stopped-after", "saved-in"));
        EXPECT_THAT(state().why.at(1).with.at(0), MatchesRegex("checkpoints/step-[0-9]+"));
        EXPECT_TRUE(are_gone(state()));
        start_over();
    }
}

TEST_F(Agent, StopsNowWhenToldSoOrAskedTwice) {
    for (const std::vector<int>& signals :
         {std::vector{SIGUSR1}, std::vector{SIGTERM, SIGUSR1}, std::vector{SIGTERM, SIGTERM}}) {
        script({"steps=0 at=1 hang", "steps=0 at=1 hang"});
        const pid_t agent = start(2);
        wait_until_training(2);
        ::kill(agent, signals.front());
        if (signals.size() > 1) {
            wait_until("the state stopping", [&] { return state().state == RunPhase::Stopping; });
            ::kill(agent, signals.back());
        }
        EXPECT_EQ(wait_for(agent).status, 0);
        EXPECT_EQ(state().state, RunPhase::Stopped);
        EXPECT_EQ(state().why, (Reason{{"stopped-now-after", {"1"}}, {"is-not-saved"}, {"no-checkpoint"}}));
        EXPECT_TRUE(are_gone(state()));
        start_over();
    }
}

TEST_F(Agent, TakesADeathByItsOwnSigtermForAStop) {
    script({"steps=0 at=1 hang", "steps=0 deaf"});
    const pid_t agent = start(2);
    wait_until_training(2);
    ::kill(agent, SIGTERM);
    EXPECT_EQ(wait_for(agent).status, 0);
    EXPECT_EQ(state().state, RunPhase::Stopped);
    EXPECT_EQ(state().why.at(0), (ReasonPart{"stopped-after", {"1"}}));
    EXPECT_EQ(state().why.at(1), ReasonPart{"is-not-saved"});
    EXPECT_TRUE(are_gone(state()));
}

TEST_F(Agent, StopsWithoutATimeLimitOnTheSave) {
    script({"steps=0 slow=4000", "steps=0"});
    const pid_t agent = start(2);
    wait_until_training(2);
    ::kill(agent, SIGTERM);
    EXPECT_EQ(wait_for(agent).status, 0);
    EXPECT_EQ(state().why.back().code, "saved-in");
}

TEST_F(Agent, TakesItsRanksAlongWhenItIsKilled) {
    script({"steps=0 at=1 hang", "steps=0"});
    const pid_t agent = start(2);
    wait_until_training(2);
    const RunState before = state();
    ::kill(agent, SIGKILL);
    EXPECT_EQ(wait_for(agent).status, 128 + SIGKILL);
    wait_until("the end of the ranks", [&] { return are_gone(before); });
    EXPECT_EQ(state().state, RunPhase::Failed);
    EXPECT_EQ(state().code, "RUN-ABANDONED");
    EXPECT_EQ(state().why.at(0).with.at(0), std::to_string(agent));

    script({"", ""});
    EXPECT_EQ(ended(2).status, 0) << "another agent takes the run over";
    EXPECT_EQ(state().state, RunPhase::Completed);
    EXPECT_EQ(state().attempt, 2);
}

TEST_F(Agent, OutlivesTheTerminalThatStartedIt) {
    script({"steps=0"});
    for (const bool as_a_job : {false, true}) {
        int terminal = -1;
        const pid_t shell = ::forkpty(&terminal, nullptr, nullptr, nullptr);
        if (shell == 0) {
            const pid_t job = ::fork();
            if (job == 0) {
                if (as_a_job) ::setpgid(0, 0);
                become(agent_arguments(1));
            }
            ::waitpid(job, nullptr, 0);
            ::_exit(0);
        }
        wait_until_training(1);
        ::close(terminal);
        ::waitpid(shell, nullptr, 0);  // SIGHUP has ended the shell
        const int64_t step = steps_of(0);
        wait_until("further steps", [&] { return steps_of(0) > step; });
        const RunState run = state();
        EXPECT_EQ(run.state, RunPhase::Running);
        ::kill(static_cast<pid_t>(run.writer.pid), SIGTERM);
        wait_until("the end", [&] { return state().state == RunPhase::Stopped; });
        wait_until("the end of the agent", [&] { return !is_alive(run.writer); });
        start_over();
    }
}

TEST_F(Agent, AsAGroupLeaderHandsOnSignalsAndExitStatus) {
    script({"steps=0 at=1 hang"});
    pid_t agent = start(agent_arguments(1), true);
    wait_until_training(1);
    EXPECT_NE(state().writer.pid, agent);
    EXPECT_EQ(::getsid(static_cast<pid_t>(state().writer.pid)), state().writer.pid);
    ::kill(agent, SIGUSR1);
    EXPECT_EQ(wait_for(agent).status, 0);
    EXPECT_EQ(state().state, RunPhase::Stopped);
    script({"exit=1 at=1"});
    agent = start(agent_arguments(1), true);
    EXPECT_EQ(wait_for(agent).status, 1);
}

TEST_F(Agent, IsNotEndedByAHangup) {
    script({"steps=0"});
    const pid_t agent = start(1);
    wait_until_training(1);
    ::kill(agent, SIGHUP);
    const int64_t step = steps_of(0);
    wait_until("further steps", [&] { return steps_of(0) > step; });
    ::kill(agent, SIGTERM);
    EXPECT_EQ(wait_for(agent).status, 0);
}

TEST_F(Agent, LetsGoOfItsStartersPipeOnceTheRanksHaveStarted) {
    script({"steps=0"});
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const pid_t agent = ::fork();
    if (agent == 0) {
        ::dup2(ends[1], STDERR_FILENO);
        ::dup2(ends[1], STDOUT_FILENO);
        ::dup2(ends[1], 17);  // a descriptor left open by mistake
        become(agent_arguments(1));
    }
    started_.push_back(agent);
    ::close(ends[1]);
    char byte = 0;
    EXPECT_EQ(::read(ends[0], &byte, 1), 0);  // read() returns only if every copy is closed
    ::close(ends[0]);
    EXPECT_EQ(state().state, RunPhase::Running);
    EXPECT_EQ(state().nodes.at(0).ranks.size(), 1u);
}

TEST_F(Agent, SpeaksToTheTerminalInTheForeground) {
    auto arguments = agent_arguments(1);
    arguments.push_back("--foreground");
    const Ended end = ended(arguments);
    EXPECT_EQ(end.status, 0);
    EXPECT_THAT(end.said, HasSubstr(english(kCompleted)));
}

TEST_F(Agent, WritesTheEndOfTheRunOnAFullDisk) {
    constexpr const char* kSize = "size=1m";
    if (::mount("tmpfs", run_.c_str(), "tmpfs", 0, kSize) != 0)
        GTEST_SKIP() << "a small disk cannot be mounted here";
    script({"steps=0 at=5 exit=1"});
    std::ofstream filler(run_ / "filler");
    const pid_t agent = start(1);
    wait_until("the ranks in run.json",
               [&] { return fs::exists(run_ / "run.json") && !state().nodes.at(0).ranks.empty(); });
    for (const size_t piece : {64 << 10, 1}) {
        filler.clear();
        while (filler << std::string(piece, 'x') << std::flush) {
        }
    }
    const Ended end = wait_for(agent);
    const RunState run = state();
    ::umount2(run_.c_str(), MNT_DETACH);
    EXPECT_EQ(end.status, 1);
    EXPECT_EQ(run.state, RunPhase::Failed);
    EXPECT_EQ(run.failed_rank, 0);
}

}  // namespace
}  // namespace ringmaster
