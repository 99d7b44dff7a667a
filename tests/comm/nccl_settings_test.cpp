#include "engine/comm/nccl_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace ringmaster {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string value_of(const std::vector<NcclSetting>& settings, const std::string& name) {
    for (const NcclSetting& setting : settings) {
        if (setting.name == name) return setting.value;
    }
    return "";
}

TEST(NcclSettings, KeepRanksOfOneMachineOnTheLoopback) {
    const NodeNetwork here = network_of(Rendezvous());
    EXPECT_TRUE(here.one_node);
    EXPECT_EQ(here.interface, "lo");
    const auto settings = nccl_settings(here, true);
    EXPECT_EQ(value_of(settings, "NCCL_SOCKET_IFNAME"), "=lo");
    EXPECT_EQ(value_of(settings, "NCCL_IB_DISABLE"), "");
}

TEST(NcclSettings, TakeTheInterfaceThatReachesTheOthersAndInfinibandWhereItIs) {
    const auto plain = nccl_settings({false, "eth1", {}}, true);
    EXPECT_EQ(value_of(plain, "NCCL_SOCKET_IFNAME"), "=eth1");
    EXPECT_EQ(value_of(plain, "NCCL_IB_DISABLE"), "1");
    const auto fast = nccl_settings({false, "eth1", {"mlx5_0", "mlx5_1"}}, true);
    EXPECT_EQ(value_of(fast, "NCCL_IB_DISABLE"), "0");
    EXPECT_THAT(fast[1].why, HasSubstr("mlx5_0, mlx5_1"));
    EXPECT_THAT(value_of(nccl_settings({true, "", {}}, true), "NCCL_SOCKET_IFNAME"), IsEmpty());
}

TEST(NcclSettings, KeepNvlinksSwitchesFromAddingUnlessSumsMayDiffer) {
    const NodeNetwork here{true, "lo", {}};
    unsetenv("NCCL_ALGO");
    EXPECT_THAT(use_nccl_settings(nccl_settings(here, false)), HasSubstr("NCCL_ALGO: left to NCCL"));
    EXPECT_EQ(std::getenv("NCCL_ALGO"), nullptr);
    EXPECT_THAT(use_nccl_settings(nccl_settings(here, true)), HasSubstr("NCCL_ALGO=^NVLS,NVLSTree (NVLink"));
    EXPECT_STREQ(std::getenv("NCCL_ALGO"), "^NVLS,NVLSTree");
    setenv("NCCL_ALGO", "Tree", 1);
    EXPECT_THAT(use_nccl_settings(nccl_settings(here, true)), HasSubstr("NCCL_ALGO=Tree (as given)"));
    unsetenv("NCCL_ALGO");
}

TEST(NcclSettings, FollowTheInterfaceThatAPersonNamed) {
    Rendezvous who;
    who.world_size = 2;
    who.interface_name = "lo";
    EXPECT_FALSE(network_of(who).one_node);
    EXPECT_EQ(network_of(who).interface, "lo");
}

TEST(NcclSettings, NeverReplaceWhatIsGivenAndSayBoth) {
    unsetenv("RINGMASTER_TEST_ONE");
    setenv("RINGMASTER_TEST_TWO", "theirs", 1);
    setenv("NCCL_PROTO", "LL", 1);
    const std::string said = use_nccl_settings(
        {{"RINGMASTER_TEST_ONE", "ours", "because"}, {"RINGMASTER_TEST_TWO", "ours", "no"}});
    EXPECT_STREQ(std::getenv("RINGMASTER_TEST_ONE"), "ours");
    EXPECT_STREQ(std::getenv("RINGMASTER_TEST_TWO"), "theirs");
    EXPECT_THAT(said, HasSubstr("RINGMASTER_TEST_ONE=ours (because)"));
    EXPECT_THAT(said, HasSubstr("RINGMASTER_TEST_TWO=theirs (as given)"));
    EXPECT_THAT(said, HasSubstr("NCCL_PROTO=LL (as given)"));
    unsetenv("NCCL_PROTO");
    EXPECT_THAT(use_nccl_settings({}), IsEmpty());
}

/// This process turns the recorder off for Gloo (engine/comm/gloo.cpp); no user asked for that.
TEST(NcclSettings, WriteTheFlightRecorderIntoTheRunsLogs) {
    ASSERT_STREQ(std::getenv("TORCH_FR_BUFFER_SIZE"), "0");
    const auto settings = flight_recorder_settings("/runs/a/logs");
    EXPECT_EQ(value_of(settings, "TORCH_FR_DUMP_TEMP_FILE"), "/runs/a/logs/flight-recorder-rank-");
    EXPECT_EQ(value_of(settings, "TORCH_NCCL_DUMP_ON_TIMEOUT"), "1");
    EXPECT_THAT(use_nccl_settings(settings), Not(HasSubstr("as given")));
    EXPECT_STREQ(std::getenv("TORCH_FR_BUFFER_SIZE"), "2000");
    for (const NcclSetting& setting : settings) unsetenv(setting.name.c_str());
    setenv("TORCH_FR_BUFFER_SIZE", "0", 1);
}

}  // namespace
}  // namespace ringmaster
