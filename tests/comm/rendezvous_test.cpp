#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "engine/comm/groups.h"
#include "engine/error.h"

namespace ringmaster {
namespace {

using Variables = std::map<std::string, std::string>;

Rendezvous rendezvous(const Variables& variables) {
    return rendezvous_from_environment([&](const char* name) -> const char* {
        const auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
    });
}

std::string refusal(const Variables& variables) {
    try {
        rendezvous(variables);
    } catch (const Error& error) {
        EXPECT_EQ(error.failure, Failure::Usage);
        return error.text();
    }
    return "";
}

const Variables kTorchrun{{"RANK", "3"},
                          {"WORLD_SIZE", "8"},
                          {"LOCAL_RANK", "1"},
                          {"LOCAL_WORLD_SIZE", "2"},
                          {"MASTER_ADDR", "node0"},
                          {"MASTER_PORT", "29500"}};

Variables with(Variables variables, const std::string& name, const std::string& value) {
    variables[name] = value;
    return variables;
}

Variables without(Variables variables, const std::string& name) {
    variables.erase(name);
    return variables;
}

TEST(Rendezvous, IsOneRankAloneWhereNothingIsSet) {
    const Rendezvous at = rendezvous({});
    EXPECT_EQ(at.rank, 0);
    EXPECT_EQ(at.world_size, 1);
    EXPECT_EQ(at.local_rank, 0);
}

TEST(Rendezvous, ReadsTorchrun) {
    const Rendezvous at = rendezvous(kTorchrun);
    EXPECT_EQ(at.rank, 3);
    EXPECT_EQ(at.world_size, 8);
    EXPECT_EQ(at.local_rank, 1);
    EXPECT_EQ(at.local_world_size, 2);
    EXPECT_EQ(at.master_addr, "node0");
    EXPECT_EQ(at.master_port, 29500);
    EXPECT_FALSE(at.store_is_elsewhere);
    EXPECT_FALSE(at.store_fd);
}

TEST(Rendezvous, KnowsThatTorchrunsAgentServesTheStore) {
    EXPECT_TRUE(rendezvous(with(kTorchrun, "TORCHELASTIC_USE_AGENT_STORE", "True")).store_is_elsewhere);
    EXPECT_FALSE(rendezvous(with(kTorchrun, "TORCHELASTIC_USE_AGENT_STORE", "False")).store_is_elsewhere);
}

TEST(Rendezvous, NeverMeetsAnotherRunOrAttempt) {
    const Variables first = with(kTorchrun, "TORCHELASTIC_RUN_ID", "example");
    const std::string key = rendezvous(first).key_prefix;
    EXPECT_NE(rendezvous(with(first, "TORCHELASTIC_RUN_ID", "other")).key_prefix, key);
    EXPECT_NE(rendezvous(with(first, "TORCHELASTIC_RESTART_COUNT", "1")).key_prefix, key);
    EXPECT_NE(rendezvous(with(first, "RINGMASTER_ATTEMPT", "2")).key_prefix, key);
    EXPECT_EQ(rendezvous(with(first, "RANK", "0")).key_prefix, key);
}

TEST(Rendezvous, TakesTheSocketOfOurAgent) {
    EXPECT_EQ(rendezvous(with(kTorchrun, "RINGMASTER_STORE_FD", "7")).store_fd, 7);
}

TEST(Rendezvous, NamesTheVariableThatIsMissingOrWrong) {
    using ::testing::HasSubstr;
    EXPECT_THAT(refusal(without(kTorchrun, "WORLD_SIZE")), HasSubstr("WORLD_SIZE is not set"));
    EXPECT_THAT(refusal({{"WORLD_SIZE", "2"}}), HasSubstr("RANK is not set"));
    EXPECT_THAT(refusal(without(kTorchrun, "MASTER_ADDR")), HasSubstr("MASTER_ADDR is not set"));
    EXPECT_THAT(refusal(without(kTorchrun, "MASTER_PORT")), HasSubstr("MASTER_PORT is not set"));
    EXPECT_THAT(refusal(with(kTorchrun, "RANK", "three")),
                HasSubstr("RANK is \"three\", not a whole number"));
    EXPECT_THAT(refusal(with(kTorchrun, "RANK", "3x")), HasSubstr("RANK is \"3x\""));
    EXPECT_THAT(refusal(with(kTorchrun, "RANK", "-1")), HasSubstr("RANK is -1, outside 0 to"));
    EXPECT_THAT(refusal(with(kTorchrun, "RANK", "8")), HasSubstr("RANK is 8, while there are 8 ranks"));
    EXPECT_THAT(refusal(with(kTorchrun, "WORLD_SIZE", "0")), HasSubstr("WORLD_SIZE is 0"));
    EXPECT_THAT(refusal(with(kTorchrun, "MASTER_PORT", "70000")), HasSubstr("MASTER_PORT is 70000"));
    EXPECT_THAT(refusal(with(kTorchrun, "MASTER_PORT", "99999999999999999999")), HasSubstr("MASTER_PORT"));
}

const Variables kSlurm{{"SLURM_PROCID", "5"},
                       {"SLURM_NTASKS", "6"},
                       {"SLURM_LOCALID", "1"},
                       {"SLURM_NODEID", "2"},
                       {"SLURM_TASKS_PER_NODE", "2(x3)"},
                       {"SLURM_JOB_NODELIST", "gpu[03-08,11],login"},
                       {"SLURM_JOB_ID", "123456"}};

TEST(Rendezvous, ReadsSlurm) {
    const Rendezvous at = rendezvous(kSlurm);
    EXPECT_EQ(at.rank, 5);
    EXPECT_EQ(at.world_size, 6);
    EXPECT_EQ(at.local_rank, 1);
    EXPECT_EQ(at.local_world_size, 2);
    EXPECT_EQ(at.master_addr, "gpu03");
    EXPECT_EQ(at.master_port, 10000 + 123456 % 50000);
    EXPECT_FALSE(at.store_is_elsewhere);
}

TEST(Rendezvous, LetsSlurmsDefaultsBeReplaced) {
    const Rendezvous at = rendezvous(with(with(kSlurm, "MASTER_ADDR", "head"), "MASTER_PORT", "4000"));
    EXPECT_EQ(at.master_addr, "head");
    EXPECT_EQ(at.master_port, 4000);
}

TEST(Rendezvous, PrefersALauncherInsideASlurmJob) {
    Variables both = kTorchrun;
    both.insert(kSlurm.begin(), kSlurm.end());
    EXPECT_EQ(rendezvous(both).rank, 3);
}

TEST(Rendezvous, CountsATaskListNodeByNode) {
    const auto local = [](const std::string& counts, const std::string& node) {
        return rendezvous(with(with(kSlurm, "SLURM_TASKS_PER_NODE", counts), "SLURM_NODEID", node))
            .local_world_size;
    };
    EXPECT_EQ(local("2(x2),1,4(x3)", "1"), 2);
    EXPECT_EQ(local("2(x2),1,4(x3)", "2"), 1);
    EXPECT_EQ(local("2(x2),1,4(x3)", "5"), 4);
    EXPECT_EQ(local("6", "0"), 6);
    EXPECT_NE(refusal(with(kSlurm, "SLURM_TASKS_PER_NODE", "2(x2)")), "");
    EXPECT_NE(refusal(with(kSlurm, "SLURM_TASKS_PER_NODE", "many")), "");
}

TEST(Rendezvous, FindsTheFirstHostOfANodeList) {
    EXPECT_EQ(first_slurm_host("gpu[03-08,11],login"), "gpu03");
    EXPECT_EQ(first_slurm_host("gpu[11,03-08]"), "gpu11");
    EXPECT_EQ(first_slurm_host("a,b,c"), "a");
    EXPECT_EQ(first_slurm_host("one"), "one");
    EXPECT_EQ(first_slurm_host("rack[1-2]n[04-09]-ib,x"), "rack1n04-ib");
    EXPECT_EQ(first_slurm_host("n[7]"), "n7");
    EXPECT_THROW(first_slurm_host(""), Error);
    EXPECT_THROW(first_slurm_host("gpu["), Error);
    EXPECT_THROW(first_slurm_host("gpu[]"), Error);
}

}  // namespace
}  // namespace ringmaster
