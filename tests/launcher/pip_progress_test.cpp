#include "launcher/base/pip_progress.h"

#include <gtest/gtest.h>

namespace ringmaster {

namespace {

ProgressStep after(std::initializer_list<const char*> lines, int64_t unpacked = 0) {
    PipProgress pip(1'000'000'000);
    for (const char* line : lines) pip.take(line);
    return pip.step(unpacked);
}

}  // namespace

TEST(PipProgress, CountsTheBytesOfAllFilesAndNamesTheOneAtWork) {
    const ProgressStep step =
        after({"Collecting torch==2.11.0 (from -r requirements.txt (line 2))",
               "  Downloading torch-2.11.0-cp311-cp311-manylinux_2_28_x86_64.whl (530.6 MB)",
               "Progress 0 of 530600000", "Progress 262144 of 530600000", "Progress 530600000 of 530600000",
               "Collecting sympy>=1.13.3 (from torch==2.11.0->-r requirements.txt (line 2))",
               "  Downloading sympy-1.14.0-py3-none-any.whl (6.3 MB)", "Progress 262144 of 6299353"});
    EXPECT_EQ(step.code, "download");
    EXPECT_EQ(step.with, std::vector<std::string>{"sympy 1.14.0"});
    EXPECT_EQ(step.done, 530'600'000 + 262'144);
    EXPECT_EQ(step.total, 1'000'000'000);
    EXPECT_TRUE(step.is_bytes);
}

TEST(PipProgress, CountsWhatPipHadInItsCache) {
    const ProgressStep step =
        after({"  Using cached torch-2.11.0-cp311-cp311-manylinux_2_28_x86_64.whl (530.6 MB)",
               "  Using cached regex-2026.11.15-cp311-cp311-manylinux2014_x86_64.whl (806 kB)"});
    EXPECT_NEAR(static_cast<double>(step.done), 531'406'000, 2);
}

TEST(PipProgress, LeavesMetadataOut) {
    const ProgressStep step =
        after({"  Downloading numpy-2.4.6-cp311-cp311-manylinux_2_28_x86_64.whl.metadata (62 kB)"});
    EXPECT_EQ(step.code, "packages");
    EXPECT_EQ(step.done, 0);
}

TEST(PipProgress, IsNeverPastItsTotal) {
    const ProgressStep step =
        after({"Downloading torch-2.11.0-cp311.whl (2.0 GB)", "Progress 2000000000 of 2000000000"});
    EXPECT_EQ(step.done, 2'000'000'000);
    EXPECT_EQ(step.total, step.done);
}

TEST(PipProgress, CountsPackagesWhileItUnpacks) {
    const ProgressStep step =
        after({"Installing collected packages: mpmath, sympy, regex, MarkupSafe, jinja2"}, 3);
    EXPECT_EQ(step.code, "unpack");
    EXPECT_EQ(step.done, 3);
    EXPECT_EQ(step.total, 5);
    EXPECT_FALSE(step.is_bytes);
}

TEST(PipProgress, KeepsALineOfBytesOutOfWhatIsQuoted) {
    PipProgress pip(1);
    EXPECT_FALSE(pip.take("Progress 262144 of 6299353"));
    EXPECT_TRUE(pip.take("ERROR: No matching distribution found for torch==2.11.0"));
}

TEST(PipProgress, TakesLinesThatItDoesNotKnow) {
    EXPECT_EQ(after({"", "   ", "Progress", "Downloading x", "Using cached ()", "Progress none"}).done, 0);
}

}  // namespace ringmaster
