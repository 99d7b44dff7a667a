#include "engine/plan/nccl_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace ringmaster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Plan plan_of(Device device, int ranks, int nodes) {
    Plan plan;
    plan.device = device;
    plan.ranks = ranks;
    plan.nodes = nodes;
    return plan;
}

std::vector<std::string> texts(const std::vector<NcclSetting>& settings) {
    std::vector<std::string> lines;
    for (const NcclSetting& it : settings) lines.push_back(to_text(it));
    return lines;
}

TEST(PlannedNcclSettings, AreNoneWithoutNccl) {
    EXPECT_THAT(planned_nccl_settings(plan_of(Device::Cpu, 4, 2)), IsEmpty());
    EXPECT_THAT(planned_nccl_settings(plan_of(Device::Cuda, 1, 1)), IsEmpty());
}

TEST(PlannedNcclSettings, OfOneMachineAreThoseThatItsRanksTell) {
    const auto settings = planned_nccl_settings(plan_of(Device::Cuda, 8, 1));
    EXPECT_THAT(texts(settings), ElementsAre("NCCL_SOCKET_IFNAME==lo (all ranks are on this machine)",
                                             HasSubstr("NCCL_ALGO: left to NCCL")));
}

TEST(NcclSettings, LeaveTheAlgorithmToNcclWhereSumsMayDifferFromRunToRun) {
    EXPECT_THAT(texts(nccl_settings({true, "lo", {}}, false)),
                ElementsAre("NCCL_SOCKET_IFNAME==lo (all ranks are on this machine)",
                            "NCCL_ALGO: left to NCCL, which measures the links"));
}

TEST(PlannedNcclSettings, OfSeveralNodesSayWhatEachFinds) {
    const auto json = nccl_settings_to_json(planned_nccl_settings(plan_of(Device::Cuda, 8, 2)));
    ASSERT_EQ(json.size(), 3U);
    EXPECT_EQ(json[0]["name"], "NCCL_SOCKET_IFNAME");
    EXPECT_TRUE(json[0]["value"].is_null());
    EXPECT_TRUE(json[1]["value"].is_null());
}

TEST(ShownNcclSettings, OfANodeThatWasSeenHaveValues) {
    const Plan plan = plan_of(Device::Cuda, 8, 2);
    const auto fast = shown_nccl_settings(plan, {false, "eth1", {"mlx5_0"}});
    EXPECT_THAT(texts(fast),
                ElementsAre("NCCL_SOCKET_IFNAME==eth1 (it reaches the other nodes)",
                            "NCCL_IB_DISABLE=0 (InfiniBand: mlx5_0)", HasSubstr("NCCL_ALGO: left to NCCL")));
    EXPECT_EQ(shown_nccl_settings(plan, {false, "", {}}).front().value, "");
}

}  // namespace
}  // namespace ringmaster
