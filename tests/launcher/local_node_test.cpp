#include "launcher/run/local_node.h"

#include <signal.h>
#include <sys/wait.h>

#include "engine/error.h"
#include "tests/launcher/run_fixture.h"

namespace ringmaster {

namespace {

using StopTest = RunFixture;

/// Holds a process that waits for a signal. signal() returns the signal that ended it.
class Victim {
  public:
    Victim() : pid_(fork()) {
        if (pid_ == 0) {
            pause();
            _exit(0);
        }
    }
    ~Victim() {
        if (!reaped_) kill(pid_, SIGKILL), waitpid(pid_, nullptr, 0);
    }
    ProcessId id() const { return *find_process(pid_); }
    int signal() {
        int status = 0;
        waitpid(pid_, &status, 0);
        reaped_ = true;
        return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    }

  private:
    pid_t pid_;
    bool reaped_ = false;
};

void set_agent(const RunDirectory& run, const ProcessId& agent, const std::vector<RankProcess>& ranks) {
    RunState state = read_run_state(run.dir);
    state.writer = agent;
    state.nodes = {{agent.host, agent, ranks}};
    write_run_state(run.dir, state);
}

TEST_F(StopTest, AsksTheAgentToSaveOrToStopNow) {
    for (const auto& [how, signal] :
         {std::pair(StopHow::FinishAndSave, SIGTERM), std::pair(StopHow::Now, SIGUSR1)}) {
        const RunDirectory run = make_run("agent" + std::to_string(signal), RunPhase::Running);
        Victim agent;
        set_agent(run, agent.id(), {});
        EXPECT_TRUE(request_stop(run, how));
        EXPECT_EQ(agent.signal(), signal);
    }
}

TEST_F(StopTest, WithoutAnAgentRankZeroIsEndedAndTheRunIsStopped) {
    const RunDirectory run = make_run("torchrun", RunPhase::Running);
    Victim rank;
    set_agent(run, rank.id(), {{0, rank.id()}});
    EXPECT_TRUE(request_stop(run, StopHow::Now));
    EXPECT_EQ(rank.signal(), SIGKILL);
    EXPECT_EQ(read_run_state(run.dir).state, RunPhase::Stopped);
}

TEST_F(StopTest, NeverSignalsAnotherProcessOfTheSamePid) {
    const RunDirectory run = make_run("reused", RunPhase::Running);
    Victim stranger;
    ProcessId other = stranger.id();
    other.start_time += 1;
    set_agent(run, other, {});
    EXPECT_FALSE(request_stop(run, StopHow::Now)) << "its agent is gone, so the run is over";
    EXPECT_TRUE(is_alive(stranger.id()));
}

TEST_F(StopTest, SaysWhyItCannotStop) {
    EXPECT_FALSE(request_stop(make_run("over", RunPhase::Completed), StopHow::Now));
    EXPECT_THROW(request_stop(make_run("waiting", RunPhase::Queued), StopHow::Now), Error);
    const RunDirectory far = make_run("far", RunPhase::Running);
    set_agent(far, {"another-host", 1, 1, "x"}, {});
    try {
        request_stop(far, StopHow::FinishAndSave);
        FAIL();
    } catch (const Error& problem) {
        EXPECT_EQ(problem.failure, Failure::Unreachable);
        EXPECT_THAT(problem.text(), testing::HasSubstr("another-host"));
    }
}

TEST(Commands, AreQuotedForAShell) {
    EXPECT_EQ(shell_quoted("/plain/path-1.x"), "/plain/path-1.x");
    EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
    EXPECT_EQ(shell_quoted(""), "''");
    EXPECT_EQ(shell_quoted("$HOME"), "'$HOME'");
    EXPECT_EQ(shell_line({{{"A", "1 2"}}, {"x", "y"}}), "A='1 2' x y");
}

TEST(Commands, NameEveryRankAndShareTheCores) {
    Places places;
    places.programs_dir = "/opt/bin";
    const NodeCommands node = local_commands({"/runs/a"}, {3, 2, "7", 0}, places, 8);
    EXPECT_EQ(shell_line(node.agent),
              "/opt/bin/ringmaster-agent --run /runs/a --ranks 3 --attempt 2 --resume 7");
    ASSERT_EQ(node.ranks.size(), 3U);
    const std::string last = shell_line(node.ranks[2]);
    EXPECT_THAT(last, testing::StartsWith("RANK=2 WORLD_SIZE=3 LOCAL_RANK=2"));
    EXPECT_THAT(last, testing::HasSubstr("OMP_NUM_THREADS=2"));
    EXPECT_EQ(torchrun_command({"/runs/a"}, 3, places),
              "torchrun --no-python --nproc-per-node 3 -- /opt/bin/ringmaster-engine --run /runs/a");
}

TEST_F(StopTest, AnAgentThatDoesNotComeUpIsToldWithItsWords) {
    const RunDirectory run = make_run("down", RunPhase::Queued);
    Places places;
    places.programs_dir = dir_ / "bin";
    write(places.agent(), "#!/bin/sh\necho cannot do this >&2\nexit 1\n");
    std::filesystem::permissions(places.agent(), std::filesystem::perms::owner_all);
    try {
        start_agent(run, {2, 2, "none", 0}, places);
        FAIL();
    } catch (const Error& problem) {
        EXPECT_EQ(problem.failure, Failure::Unreachable);
        EXPECT_THAT(problem.text(), testing::HasSubstr("cannot do this"));
    }
}

TEST_F(StopTest, WhatThisMachineCannotStartIsRefused) {
    Places places;
    places.programs_dir = dir_ / "bin";
    Plan plan;
    EXPECT_THROW(require_startable(plan, {}, places), Error) << "no programs";
    write(places.agent(), "");
    write(places.engine(), "");
    EXPECT_NO_THROW(require_startable(plan, {}, places));
    plan.nodes = 2;
    EXPECT_THROW(require_startable(plan, {}, places), Error);
    plan.nodes = 1;
    plan.device = Device::Cuda;
    plan.ranks = 2;
    Machine machine;
    machine.gpus.resize(1);
    EXPECT_THROW(require_startable(plan, machine, places), Error);
    machine.gpus.resize(2);
    EXPECT_NO_THROW(require_startable(plan, machine, places));
}

}  // namespace

}  // namespace ringmaster
