#include <sys/stat.h>

#include "tests/agent/agent_run.h"

namespace ringmaster {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

using AgentRefusal = AgentRun;

TEST_F(AgentRefusal, OfARunThatAnotherAgentRuns) {
    script({"steps=0"});
    const pid_t first = start(1);
    wait_until_training(1);
    const Ended second = ended(1);
    EXPECT_EQ(second.status, 1);
    EXPECT_THAT(second.said,
                HasSubstr(run_.string() + ": is run by process " + std::to_string(first) + " on host"));
    EXPECT_EQ(state().state, RunPhase::Running);
    ::kill(first, SIGTERM);
    EXPECT_EQ(wait_for(first).status, 0);
    EXPECT_EQ(state().state, RunPhase::Stopped);
    EXPECT_EQ(state().attempt, 1);
}

TEST_F(AgentRefusal, IsNotOfARunThatItsLauncherStillPrepares) {
    RunState before;
    before.name = "tiny";
    before.state = RunPhase::Preparing;
    before.writer = this_process();
    write_run_state(run_, before);
    EXPECT_EQ(ended(1).status, 0);
}

TEST_F(AgentRefusal, OnlyOneOfManyAgentsAtOnceGetsTheRun) {
    script({"steps=0", "steps=0"});
    std::vector<pid_t> agents;
    for (int i = 0; i < 5; ++i) agents.push_back(start(2));
    wait_until_training(2);
    const auto owner = static_cast<pid_t>(state().writer.pid);
    std::erase(agents, owner);
    EXPECT_EQ(agents.size(), 4u);
    for (pid_t agent : agents) EXPECT_EQ(wait_for(agent).status, 1);
    EXPECT_EQ(state().writer.pid, owner);
    EXPECT_EQ(state().attempt, 1);
    ::kill(owner, SIGUSR1);
    EXPECT_EQ(wait_for(owner).status, 0);
}

TEST_F(AgentRefusal, OfArgumentsIsExitStatus2) {
    const std::string run = run_;
    const std::vector<std::vector<std::string>> bad = {
        {},
        {"--run", run},
        {"--ranks", "2"},
        {"--run", run, "--ranks"},
        {"--run", run, "--ranks", "0"},
        {"--run", run, "--ranks", "-1"},
        {"--run", run, "--ranks", "two"},
        {"--run", run, "--ranks", "99999999999"},
        {"--run", run, "--ranks", "1025"},
        {"--run", run, "--ranks", "1", "--attempt", "1.5"},
        {"--run", "", "--ranks", "1"},
        {"--run", run, "--ranks", "1", "--frobnicate"},
    };
    for (const auto& arguments : bad) {
        std::vector<std::string> command = {AGENT_PROGRAM};
        command.insert(command.end(), arguments.begin(), arguments.end());
        const Ended end = ended(command);
        EXPECT_EQ(end.status, 2) << testing::PrintToString(arguments);
        EXPECT_THAT(end.said, HasSubstr("usage: ringmaster-agent"));
    }
    EXPECT_FALSE(fs::exists(run_ / "agent.log"));
}

TEST_F(AgentRefusal, OfAMissingRunDirectoryOrEngineIsExitStatus3) {
    const std::string missing = base_ / "missing";
    const std::string plain = base_ / "plain";
    std::ofstream(plain) << "no program\n";
    for (const auto& [run, engine, word] :
         {std::tuple(missing, std::string(SCRIPTED_RANK), missing),
          std::tuple(plain, std::string(SCRIPTED_RANK), plain), std::tuple(run_.string(), missing, missing),
          std::tuple(run_.string(), base_.string(), base_.string()),
          std::tuple(run_.string(), plain, plain + ": is not executable")}) {
        const Ended end = ended({AGENT_PROGRAM, "--run", run, "--ranks", "1", "--engine", engine});
        EXPECT_EQ(end.status, 3);
        EXPECT_THAT(end.said, StartsWith("ringmaster-agent: " + word));
    }
}

TEST_F(AgentRefusal, OfAnEngineThatIsNoProgramEndsTheRunWithThat) {
    const fs::path engine = base_ / "engine";
    std::ofstream(engine) << "no program\n";
    ::chmod(engine.c_str(), 0755);
    const Ended end = ended({AGENT_PROGRAM, "--run", run_, "--ranks", "2", "--engine", engine});
    EXPECT_EQ(end.status, 3);
    EXPECT_EQ(end.said, "ringmaster-agent: " + engine.string() + ": cannot be run: Exec format error\n");
    EXPECT_EQ(state().state, RunPhase::Failed);
    EXPECT_THAT(state().why.at(0).with.at(0), HasSubstr(engine.string()));
}

TEST_F(AgentRefusal, OfFoldersInTheWayOfFilesNamesThem) {
    for (const char* in_the_way : {"logs/rank-00001.log", "agent.log", "run.json/x"}) {
        fs::create_directories(run_ / in_the_way);
        const Ended end = ended(2);
        EXPECT_EQ(end.status, 1) << in_the_way;
        EXPECT_THAT(end.said, HasSubstr((run_ / in_the_way).parent_path().string())) << in_the_way;
        start_over();
    }
    for (const char* in_the_way : {"logs", "events"}) {
        std::ofstream(run_ / in_the_way) << "a file\n";
        const Ended end = ended(2);
        EXPECT_EQ(end.status, 1) << in_the_way;
        EXPECT_THAT(end.said, HasSubstr((run_ / in_the_way).string()));
        EXPECT_EQ(state().state, RunPhase::Failed);
        start_over();
    }
}

TEST_F(AgentRefusal, LeavesNoRankRunningWhereALaterOneCannotStart) {
    script({"steps=0"});
    fs::create_directories(run_ / "logs" / log_file_name(1));
    EXPECT_EQ(ended(2).status, 1);
    EXPECT_EQ(state().state, RunPhase::Failed);
    EXPECT_THAT(state().why.at(0).with.at(0), HasSubstr(log_file_name(1)));
    EXPECT_EQ(state().nodes.at(0).ranks.size(), 1u);
    EXPECT_TRUE(are_gone(state()));
}

TEST_F(AgentRefusal, IsNotOfStrangeContentThatDoesNotMatter) {
    std::ofstream(run_ / "run.json") << "{\"name\": \"half";
    fs::create_directories(run_ / "events");
    std::ofstream(run_ / "events" / event_file_name(0)) << std::string(100'000, '\xff') << "\n{\"type\":";
    EXPECT_EQ(ended(1).status, 0);
    EXPECT_EQ(state().state, RunPhase::Completed);
    EXPECT_EQ(state().name, "tiny");
    EXPECT_THAT(content_of(run_ / "agent.log"), HasSubstr("run.json: "));
}

TEST_F(AgentRefusal, OfEventsThatARankCannotWriteShowsItsLog) {
    fs::create_directories(run_ / "events" / event_file_name(0));
    EXPECT_EQ(ended(1).status, 1);
    EXPECT_EQ(state().state, RunPhase::Failed);
    EXPECT_EQ(state().why.at(0), (ReasonPart{"rank-signal", {"0", "6", "Aborted"}}));
    EXPECT_EQ(state().why.at(1).code, "log-end");
}

}  // namespace
}  // namespace ringmaster
