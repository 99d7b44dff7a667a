#include "engine/files/disk_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstring>
#include <filesystem>

#include "engine/error.h"
#include "tests/files/folder_fixture.h"

namespace ringmaster {
namespace {

using DiskFileTest = FolderFixture;

std::shared_ptr<DiskBytes> filled(char with, int64_t bytes) {
    auto made = std::make_shared<DiskBytes>(bytes);
    std::memset(made->data.get(), with, static_cast<size_t>(made->size));
    return made;
}

TEST_F(DiskFileTest, TransfersAreMadeInTheOrderInWhichTheyWereAskedFor) {
    DiskFile file((dir_ / "new").string());
    const int64_t first = file.reserve(100), second = file.reserve(3 * DiskBytes::kBlock + 1);
    EXPECT_EQ(second - first, DiskBytes::kBlock);
    auto zeros = file.read(second, 4 * DiskBytes::kBlock);
    file.write(second, filled('a', 4 * DiskBytes::kBlock));
    auto letters = file.read(second, 4 * DiskBytes::kBlock);
    file.write(second + DiskBytes::kBlock, filled('b', DiskBytes::kBlock));
    const DiskBytes before = zeros.get(), after = letters.get();
    EXPECT_EQ(before.data.get()[0], std::byte{0});
    EXPECT_EQ(after.data.get()[2 * DiskBytes::kBlock], std::byte{'a'});
    const DiskBytes last = file.read(second, 4 * DiskBytes::kBlock).get();
    EXPECT_EQ(last.data.get()[DiskBytes::kBlock], std::byte{'b'});
    EXPECT_EQ(last.data.get()[2 * DiskBytes::kBlock], std::byte{'a'});
    EXPECT_TRUE(std::filesystem::is_empty(dir_ / "new"));
}

TEST_F(DiskFileTest, AFolderThatCannotBeWrittenIsNamed) {
    const std::string said = refusal([] { DiskFile file("/proc/no-such-folder"); });
    EXPECT_NE(said.find("/proc/no-such-folder"), std::string::npos) << said;
}

TEST_F(DiskFileTest, AFileThatMayNotGrowIsRefusedWhenBytesAreReserved) {
    DiskFile file(dir_.string());
    file.reserve(DiskBytes::kBlock);
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{1 << 20, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    EXPECT_THROW(file.reserve(2 << 20), Error);
    setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_EQ(file.reserve(2 << 20), DiskBytes::kBlock);
}

}  // namespace
}  // namespace ringmaster
