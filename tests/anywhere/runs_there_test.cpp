// Tests the list of runs that a machine sends: the list cannot make this machine connect to another host or
// run another program.
#include "launcher/backends/runs_there.h"

#include <gtest/gtest.h>

#include "engine/error.h"

namespace ringmaster {
namespace {

constexpr const char* kData = "/home/ann/data/ringmaster";

/// Returns the only run of an answer in which the machine that was asked, node 0, reports `agent` as the path
/// of its agent.
RunThere run_of(const std::string& agent) {
    const std::string data = kData;
    const std::string first = R"({"target":"gpu1","run_dir":"/elsewhere/r1","agent":")" + agent +
                              R"(","address":"10.0.0.1","first_rank":0,"ranks":1})";
    const std::string second =
        R"({"target":"victim","run_dir":"/elsewhere/r1","agent":"/home/eve/programs/0123456789abcdef/bin/ringmaster-agent",)"
        R"("address":"10.0.0.2","first_rank":1,"ranks":1})";
    const RunsThere there =
        parse_runs_there("ringmaster\naddress 10.0.0.1\ndata " + data + "\nname r1\nrun 0 " + data +
                             "/runs/0123456789ab/r1\nremote {\"ranks\":2,\"adopted\":false,\"nodes\":[" +
                             first + "," + second + "]}\nend\n",
                         "gpu1");
    EXPECT_EQ(there.runs.size(), 1U);
    return there.runs.at(0);
}

TEST(RunsThere, DeriveEachPathFromTheFolderOfTheMachineThatWasAsked) {
    const RunThere run = run_of("/home/eve/programs/0123456789abcdef/bin/ringmaster-agent");
    ASSERT_TRUE(run.remote);
    const RemoteNode& asked = run.remote->nodes[0];
    EXPECT_EQ(asked.agent, std::string(kData) + "/programs/0123456789abcdef/bin/ringmaster-agent");
    EXPECT_EQ(asked.run_dir, std::string(kData) + "/runs/0123456789ab/r1");
}

TEST(RunsThere, NameNoHostThatThePersonHasNotNamed) {
    const RemoteRun remote =
        run_of("/x/0123456789abcdef/bin/ringmaster-agent").followed_at("login.example", "gpu1");
    EXPECT_EQ(remote.nodes[0].target, "login.example");
    EXPECT_FALSE(remote.nodes[1].is_named());
    EXPECT_EQ(remote.nodes[1].called, "victim");
    EXPECT_EQ(remote.nodes[1].agent + remote.nodes[1].run_dir, "");
}

TEST(RunsThere, CannotBeFollowedByAnotherProgramThanOurAgent) {
    for (const char* agent :
         {"/bin/touch", "/home/eve/bin/ringmaster-agent", "/x/../bin/ringmaster-agent",
          "/x/0123456789abcdeg/bin/ringmaster-agent", "/x/0123456789abcdef/bin/ringmaster-agent -x",
          "/x/0123456789ABCDEF/bin/ringmaster-agent", "/x/0123456789abcdef/ringmaster-agent"}) {
        const RunThere run = run_of(agent);
        ASSERT_TRUE(run.remote) << agent;
        EXPECT_EQ(run.remote->nodes[0].agent, "") << agent;
        EXPECT_THROW(run.followed_at("gpu1", "gpu1"), Error) << agent;
    }
}

}  // namespace
}  // namespace ringmaster
