#include "launcher/backends/preview.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace ringmaster {
namespace {

using testing::HasSubstr;

const std::vector<NcclSetting> kTold = {{"NCCL_SOCKET_IFNAME", "=eth1", "it reaches the other nodes"},
                                        {"NCCL_ALGO", "", "left to NCCL, which measures the links"}};

TEST(LaunchPreview, SaysOfEachNodeWhatItsRanksTellNccl) {
    LaunchPreview preview;
    preview.nodes = {{"here", {{}, {"agent"}}, {{{}, {"engine"}}}, kTold}};
    EXPECT_THAT(
        preview_text(preview),
        HasSubstr("whose ranks tell NCCL:\n  NCCL_SOCKET_IFNAME==eth1 (it reaches the other nodes)\n  "
                  "NCCL_ALGO: left to NCCL"));
    const auto told = preview_to_json(preview)["nodes"][0]["nccl"];
    EXPECT_EQ(told[0]["value"], "=eth1");
    EXPECT_TRUE(told[1]["value"].is_null());
    preview.nodes = {{"a", {{}, {"agent"}}, {}, kTold}, {"b", {{}, {"agent"}}, {}, {}}};
    EXPECT_THAT(preview_text(preview), HasSubstr("whose ranks tell NCCL:\n  NCCL_SOCKET_IFNAME"));
}

TEST(LaunchPreview, OfAJobSaysWhatItsNodesFind) {
    LaunchPreview preview;
    preview.submit = {"sbatch"};
    preview.nccl = kTold;
    EXPECT_THAT(preview_text(preview), HasSubstr("whose ranks tell NCCL:"));
    EXPECT_EQ(preview_to_json(preview)["nccl"].size(), 2U);
}

}  // namespace
}  // namespace ringmaster
