#include "launcher/machine.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace ringmaster {

namespace {

const std::string kTwo =
    "0, GPU-aaaa1111-0000, NVIDIA H100 80GB HBM3, 81559\n"
    "1, GPU-bbbb2222-0000, NVIDIA H100 80GB HBM3, [N/A]\n"
    "warning: something else\n";

std::vector<int> indices(const std::vector<Gpu>& gpus) {
    std::vector<int> found;
    for (const Gpu& gpu : gpus) found.push_back(gpu.index);
    return found;
}

TEST(Machine, ReadsWhatNvidiaSmiPrints) {
    const auto gpus = parse_nvidia_smi(kTwo);
    ASSERT_EQ(gpus.size(), 2U);
    EXPECT_EQ(gpus[0].name, "NVIDIA H100 80GB HBM3");
    EXPECT_EQ(gpus[0].memory_bytes, 81559LL << 20);
    EXPECT_EQ(gpus[1].uuid, "GPU-bbbb2222-0000");
    EXPECT_EQ(gpus[1].memory_bytes, 0);
}

TEST(Machine, CudaVisibleDevicesIsObeyedAsCudaReadsIt) {
    const auto all = parse_nvidia_smi(kTwo);
    EXPECT_EQ(indices(visible_gpus(all, std::nullopt)), (std::vector<int>{0, 1}));
    EXPECT_EQ(indices(visible_gpus(all, "1")), (std::vector<int>{1}));
    EXPECT_EQ(indices(visible_gpus(all, "1, 0")), (std::vector<int>{1, 0}));
    EXPECT_EQ(indices(visible_gpus(all, "GPU-bbbb")), (std::vector<int>{1}));
    EXPECT_TRUE(visible_gpus(all, "").empty());
    EXPECT_TRUE(visible_gpus(all, "-1").empty());
    EXPECT_EQ(indices(visible_gpus(all, "0,9,1")), (std::vector<int>{0}))
        << "ends at the first that there is not";
    EXPECT_EQ(visible_gpus(all, "MIG-1,MIG-2").size(), 2U);
}

TEST(Machine, ThisOneHasCoresAndMemory) {
    const Machine machine = this_machine();
    EXPECT_GE(machine.cores, 1);
    EXPECT_EQ(machine.ram_bytes, static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE));
    EXPECT_FALSE(machine.host.empty());
}

}  // namespace

}  // namespace ringmaster
