#include "engine/optimizers/schedule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace ringmaster {
namespace {

Config config_of(LrScheduler scheduler, int64_t warmup) {
    Config config;
    config.learning_rate = 0.5;
    config.lr_scheduler = scheduler;
    config.warmup_steps = warmup;
    return config;
}

TEST(Schedule, WarmupStartsAtZeroAndPeaksAtTheRate) {
    for (LrScheduler scheduler :
         {LrScheduler::Linear, LrScheduler::Cosine, LrScheduler::ConstantWithWarmup}) {
        const Config config = config_of(scheduler, 4);
        EXPECT_DOUBLE_EQ(learning_rate_at(config, 1, 20), 0);
        EXPECT_DOUBLE_EQ(learning_rate_at(config, 3, 20), 0.25);
        EXPECT_DOUBLE_EQ(learning_rate_at(config, 5, 20), 0.5);
    }
    EXPECT_DOUBLE_EQ(learning_rate_at(config_of(LrScheduler::Constant, 4), 1, 20), 0.5)
        << "as transformers: no warmup";
}

TEST(Schedule, DecaysAsItsNameSays) {
    EXPECT_DOUBLE_EQ(learning_rate_at(config_of(LrScheduler::Linear, 0), 11, 20), 0.25);
    EXPECT_DOUBLE_EQ(learning_rate_at(config_of(LrScheduler::Cosine, 0), 11, 20), 0.5 * 0.5);
    EXPECT_DOUBLE_EQ(learning_rate_at(config_of(LrScheduler::ConstantWithWarmup, 0), 20, 20), 0.5);
    Config floored = config_of(LrScheduler::Cosine, 0);
    floored.cosine_min_lr_ratio = 0.1;
    const double scaling = 0.5 * (1 + std::cos(std::numbers::pi * 19 / 20));
    EXPECT_NEAR(learning_rate_at(floored, 20, 20), 0.5 * (0.9 * scaling + 0.1), 1e-15);
}

TEST(Schedule, WarmupRatioIsRoundedUpAndStepsWin) {
    Config config = config_of(LrScheduler::Linear, 4);
    config.warmup_ratio = 0.9;
    EXPECT_EQ(warmup_steps_of(config, 21), 4);
    config.warmup_steps.reset();
    config.warmup_ratio = 0.1;
    EXPECT_EQ(warmup_steps_of(config, 21), 3);
}

TEST(Interval, ReadsStepsSharesAndEpochs) {
    Config config;
    config.save_steps = 5;
    EXPECT_TRUE(saving_of(config, 100, 10).is_due(15, false));
    EXPECT_FALSE(saving_of(config, 100, 10).is_due(16, true));
    config.save_steps = 0.25;
    EXPECT_EQ(saving_of(config, 100, 10).steps, 25);
    config.save_steps.reset();
    config.saves_per_epoch = 2;
    EXPECT_EQ(saving_of(config, 100, 10).steps, 5);
    config.saves_per_epoch.reset();
    config.save_strategy = "epoch";
    EXPECT_TRUE(saving_of(config, 100, 10).is_due(7, true));
    config.save_strategy = "no";
    EXPECT_FALSE(saving_of(config, 100, 10).is_due(7, true));
}

}  // namespace
}  // namespace ringmaster
