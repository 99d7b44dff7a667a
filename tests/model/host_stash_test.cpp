#include "engine/model/host_stash.h"

#include <ATen/ATen.h>

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
            // The allocator may give it the same block.
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

}  // namespace
}  // namespace ringmaster
