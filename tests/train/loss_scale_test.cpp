// Compares the loss scale with torch.amp.GradScaler's own operations, and tests what counts as an overflow.
#include "engine/train/loss_scale.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "tests/support/tiny_model.h"

namespace ringmaster {
namespace {

/// Updates a scale as GradScaler does by default.
struct Scaler {
    at::Tensor scale = at::full({1}, 65536.0F), good_steps = at::zeros({1}, at::kInt);

    void update(bool overflowed) {
        at::_amp_update_scale_(scale, good_steps, at::full({1}, overflowed ? 1.0F : 0.0F), 2, 0.5, 2000);
    }
};

TEST(LossScale, IsGradScalersAfterEveryStep) {
    std::mt19937 random(5);
    for (const int one_in : {3, 700, 100'000}) {
        LossScale ours;
        Scaler theirs;
        for (int step = 0; step < 20'000; ++step) {
            const bool overflowed = random() % static_cast<unsigned>(one_in) == 0;
            ours.update(overflowed);
            theirs.update(overflowed);
            ASSERT_EQ(ours.good_steps, theirs.good_steps.item<int>()) << step;
            if (theirs.scale.item<float>() < std::numeric_limits<float>::min()) break;
            ASSERT_EQ(ours.scale, theirs.scale.item<float>()) << step;
        }
    }
}

TEST(LossScale, GrowsAsFarAsAFloatGoes) {
    LossScale ours;
    Scaler theirs;
    for (int step = 0; step < 130 * 2000; ++step) {
        ours.update(false);
        theirs.update(false);
    }
    EXPECT_EQ(ours.scale, theirs.scale.item<float>());
    EXPECT_GT(ours.scale, 1e38);
}

TEST(LossScale, NoSmallerOneHelpsBelowOne) {
    LossScale scale;
    for (int overflow = 0; overflow < 16; ++overflow) {
        scale.update(true);
        EXPECT_FALSE(scale.is_least()) << overflow;
    }
    scale.update(true);
    EXPECT_TRUE(scale.is_least());
}

// 65,519 rounds to 65,504 and 65,520 to infinity, as at::Half does.
TEST(UnscaledGradients, OverflowWhereFloat16WouldHoldInfinity) {
    const float infinity = std::numeric_limits<float>::infinity();
    Parameters parameters(tiny_model(), Precision::Float32, at::kCPU);
    const int64_t count = parameters.gradients().values.size(0);
    for (const float value : {0.0F, 65519.0F, -65519.0F, 65520.0F, -65520.0F, 1e30F, infinity, -infinity,
                              std::numeric_limits<float>::quiet_NaN()}) {
        for (const int64_t at : {int64_t{0}, count / 2}) {
            parameters.gradients().values.fill_(8);
            parameters.gradients().values[at] = value;
            const bool finite = std::isfinite(static_cast<float>(at::Half(value)));
            EXPECT_EQ(unscale_gradients(parameters, 16), !finite) << value;
            EXPECT_EQ(parameters.gradients().values[at + 1].item<float>(), 0.5F);
        }
    }
}

}  // namespace
}  // namespace ringmaster
