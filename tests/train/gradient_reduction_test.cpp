// Tests that a reduction waits until all of its sums have arrived, however late the other ranks send.
#include "engine/train/gradient_reduction.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tests/support/ranks.h"
#include "tests/support/tiny_model.h"

namespace ringmaster {
namespace {

constexpr std::chrono::milliseconds kLate{300};

/// All gradients of a rank equal its number plus one. The last rank sends the gradients of the last unit
/// late.
TEST(GradientReduction, WaitsForTheLastSumOfTheSlowestRank) {
    Mesh mesh;
    mesh.dp_replicate = mesh.dp_shard = 2;
    for (const int stage : {0, 1}) {
        run_ranks(mesh, [&](int rank, Groups& groups) {
            const at::NoGradGuard no_grad;
            Parameters parameters(tiny_model(), Precision::Float32, at::kCPU, Sharding{stage, groups});
            parameters.gradients().values.fill_(rank + 1);
            GradientReduction reduction(groups, parameters);
            reduction.begin_micro_batch(true, true);
            for (int unit = parameters.head_unit(); unit > 0; --unit) reduction.start(unit);
            if (rank == 3) std::this_thread::sleep_for(kLate);
            reduction.start(0);
            reduction.wait();
            for (int unit = 0; unit < parameters.units(); ++unit) {
                const at::Tensor sums = parameters.own_slice(parameters.gradients(), unit);
                EXPECT_TRUE(sums.eq(1 + 2 + 3 + 4).all().item<bool>())
                    << "stage " << stage << ", " << parameters.name_of(unit);
            }
        });
    }
}

}  // namespace
}  // namespace ringmaster
