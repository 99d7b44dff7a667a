#include "engine/train/large_blocks.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "engine/error.h"
#include "engine/train/tensor_memory.h"

namespace ringmaster {
namespace {

constexpr size_t kMiB = 1 << 20;

/// Returns the bytes of private writable memory that the system counts for this process.
size_t mapped() {
    std::ifstream file("/proc/self/statm");
    size_t all = 0, pages = 0;
    for (int field = 0; field < 6 && file >> all; ++field) pages = all;
    return pages * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

TEST(LargeBlocks, GiveTheSameOneAgainForTheSameSize) {
    LargeBlocks blocks;
    void* first = blocks.take(3 * kMiB);
    void* other = blocks.take(2 * kMiB);
    std::memset(first, 1, 3 * kMiB);
    std::memset(other, 2, 2 * kMiB);
    blocks.give_back(first, 3 * kMiB);
    blocks.give_back(other, 2 * kMiB);
    EXPECT_EQ(blocks.take(3 * kMiB), first);
    EXPECT_EQ(blocks.take(2 * kMiB), other);
}

TEST(LargeBlocks, NeverHoldMoreThanWasUsedAtOnce) {
    LargeBlocks blocks;
    const size_t before = mapped();
    for (size_t size = 64 * kMiB; size > 32 * kMiB; size -= kMiB) {
        void* block = blocks.take(size);
        std::memset(block, 1, size);
        blocks.give_back(block, size);
        EXPECT_LE(mapped(), before + 65 * kMiB);
    }
}

TEST(LargeBlocks, AreNullWhereThereIsNoMore) {
    LargeBlocks blocks;
    EXPECT_EQ(blocks.take(size_t{1} << 60), nullptr);
    void* block = blocks.take(kMiB);
    EXPECT_NE(block, nullptr) << "a refusal is not counted as used";
    blocks.give_back(block, kMiB);
}

TEST(TensorMemory, SaysInGibibytesWhatCouldNotBeHad) {
    count_cpu_memory();
    try {
        at::empty({int64_t{1} << 50});
        FAIL() << "there is no room for 4 PiB";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(),
                    testing::MatchesRegex("out of memory: a tensor of 4194304.0 GiB could not be allocated, "
                                          "[0-9.,]+ [GM]iB of tensors are in use"));
    }
}

}  // namespace
}  // namespace ringmaster
