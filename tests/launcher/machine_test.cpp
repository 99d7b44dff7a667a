#include "launcher/machine/machine.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "launcher/machine/gpu_age.h"
#include "launcher/run/request.h"

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

TEST(Machine, KnowsGpusThatAreTooOldForTheKernels) {
    const auto gpus = parse_nvidia_smi(
        "0, GPU-a, NVIDIA A100-SXM4-80GB, 81920, 8.0\n1, GPU-b, Tesla T4, 15360, 7.5\n"
        "2, GPU-c, Tesla V100-SXM2-32GB, 32768, 7.0\n3, GPU-d, NVIDIA B200, 183359, 10.0\n"
        "4, GPU-e, of an old driver, 100\n5, GPU-f, odd, 100, [N/A]\n");
    std::vector<int> old;
    for (const Gpu& gpu : gpus) {
        if (is_too_old(gpu.capability)) old.push_back(gpu.index);
    }
    EXPECT_EQ(old, (std::vector<int>{1, 2}));
    EXPECT_EQ(least_capability(), "8.0");
    EXPECT_FALSE(old_gpu_finding(gpus, 1, Severity::Error)) << "the run does not use the second GPU";
    const auto finding = old_gpu_finding(gpus, 9, Severity::Error);
    ASSERT_TRUE(finding);
    EXPECT_EQ(finding->message,
              "GPU 1, Tesla T4, has compute capability 7.5, and the engine's kernels need 8.0 or newer");
    EXPECT_NE(finding->hint, "");
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

TEST(Machine, RanksGetTheThreadsThatTheEnvironmentNames) {
    ::setenv("OMP_NUM_THREADS", "3", 1);
    EXPECT_EQ(plan_request_of({}, this_machine(), {}).threads, 3);
    ::setenv("OMP_NUM_THREADS", "many", 1);
    EXPECT_EQ(this_machine().threads, 0);
    ::unsetenv("OMP_NUM_THREADS");
    EXPECT_EQ(plan_request_of({}, this_machine(), {}).threads, 0);
}

}  // namespace

}  // namespace ringmaster
