#include "engine/model/host_stash.h"

#include <ATen/ATen.h>

#include <csignal>
#include <cstdlib>

#include "engine/model/host_arena.h"
#include "tests/support/gpu.h"

namespace ringmaster {
namespace {

TEST(HostStash, GpuTensorsComeBackAsTheyWereWhateverTheirMemoryBecameMeanwhile) {
    ASSERT_TRUE(has_gpu());
    const at::Device device(at::kCUDA, 0);
    constexpr size_t kPlaces = 6;
    HostStash stash(device);
    for (int round = 0; round < 3; ++round) {
        const auto value = [&](size_t place) { return double(place) + 10 * round; };
        for (size_t place = 0; place < kPlaces; ++place) {
            stash.put(place, at::full({1 << 20}, value(place), at::TensorOptions().device(device)));
            // The allocator may give this temporary tensor the block that was just stashed; it must not
            // change the stashed copy.
            at::full({1 << 20}, -1, at::TensorOptions().device(device));
        }
        for (size_t place = kPlaces; place-- > 0;) {
            const at::Tensor back = stash.take(place);
            if (place > 0) stash.fetch(place - 1);
            EXPECT_TRUE(back.is_cuda());
            EXPECT_TRUE(at::equal(back, at::full_like(back, value(place)))) << place;
        }
    }
}

/// Returns eight numbers in host memory that is mapped from a file.
at::Tensor numbers_in_a_file() {
    setenv("RINGMASTER_HOST_ARENA", testing::TempDir().c_str(), 1);
    return host_zeros({8}, at::kFloat, at::kCPU);
}

TEST(HostArena, AnOperatorThatTouchesClosedMemoryEndsTheProcess) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto touch = [](bool closes) {
        const at::Tensor numbers = numbers_in_a_file();
        if (closes) {
            const HostIsClosed closed;
            numbers.add_(1);
        }
        std::exit(static_cast<int>(numbers.sum().item<float>()));
    };
    EXPECT_EXIT(touch(true), testing::KilledBySignal(SIGSEGV), "");
    EXPECT_EXIT(touch(false), testing::ExitedWithCode(0), "");
}

TEST(HostArena, CopiesReachClosedMemory) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto copy = [] {
        const at::Tensor numbers = numbers_in_a_file(), here = at::zeros({8});
        HostLink link(at::kCPU);
        {
            const HostIsClosed closed;
            link.copy(at::ones({8}), numbers);
            link.copy(numbers, here);
        }
        std::exit(static_cast<int>(numbers.add(here).sum().item<float>()));
    };
    EXPECT_EXIT(copy(), testing::ExitedWithCode(16), "");
}

}  // namespace
}  // namespace ringmaster
