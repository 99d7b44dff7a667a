// Compares the step after which high losses end a run with the step at which axolotl's callback ends it.
#include "engine/train/loss_watchdog.h"

#include <gtest/gtest.h>

#include <vector>

using namespace ringmaster;

namespace {

/// Holds losses, and the step at which axolotl 0.19's LossWatchDogCallback ended the run. The callback was
/// called as transformers' Trainer does: at the end of a step, before the step's loss and evaluation are
/// logged.
struct Watched {
    int64_t logging_steps, patience, eval_steps;  // eval_steps 0: no evaluation
    int64_t last_step;                            // 0: the run was not ended
    std::vector<double> losses;
};

const std::vector<Watched> kWatched = {
    // clang-format off
    {1, 3, 0, 4, {7.5, 6.5, 6.5, 7.5, 4, 7, 5, 4, 5, 4, 6.5, 7, 5, 7, 7.5, 4, 7.5, 5, 4, 5, 7, 6.5, 5, 7}},
    {1, 2, 0, 6, {5, 4, 5, 7.5, 7.5, 7, 5, 5, 4, 4, 5, 5, 5, 5, 6.5, 6.5, 5, 7.5, 5, 5, 5, 7, 6.5, 4}},
    {3, 2, 0, 5, {6.5, 7, 5, 5, 6.5, 4, 6.5, 6.5, 7.5, 7.5, 4, 7.5, 6.5, 4, 6.5, 6.5, 6.5, 7, 6.5, 5, 7, 7, 5, 4}},
    {1, 3, 4, 10, {6.5, 4, 6.5, 7, 4, 7.5, 7, 6.5, 7, 7.5, 4, 7, 4, 5, 7.5, 5, 4, 5, 7, 6.5, 7.5, 6.5, 7.5, 6.5}},
    {2, 1, 3, 3, {7, 4, 7.5, 6.5, 6.5, 4, 7, 4, 5, 6.5, 7.5, 7.5, 6.5, 5, 6.5, 6.5, 7.5, 4, 6.5, 6.5, 6.5, 5, 4, 5}},
    {1, 0, 0, 9, {6.5, 7, 5, 4, 4, 7.5, 7.5, 7, 4, 5, 7.5, 6.5, 6.5, 7, 7, 5, 4, 4, 7, 6.5, 5, 5, 7.5, 5}},
    {4, 3, 6, 9, {7, 4, 5, 7, 6.5, 5, 4, 7, 6.5, 5, 7, 7.5, 5, 7.5, 7, 7, 6.5, 7, 6.5, 6.5, 7, 7, 5, 4}},
    {1, 2, 0, 3, {7, 7.5, 5, 7, 6.5, 5, 4, 7, 6.5, 7.5, 7.5, 7.5, 6.5, 4, 6.5, 7.5, 4, 6.5, 6.5, 7.5, 6.5, 7, 6.5, 6.5}},
    {1, 9, 0, 14, {6.5, 5, 7.5, 4, 7, 7.5, 6.5, 6.5, 6.5, 7, 6.5, 7.5, 6.5, 6.5, 6.5, 6.5, 7, 6.5, 5, 7, 6.5, 6.5, 7.5, 5}},
    // clang-format on
};

int64_t last_step(const Watched& run) {
    Config config;
    config.loss_watchdog_threshold = 5;
    config.logging_steps = run.logging_steps;
    if (run.patience > 0) config.loss_watchdog_patience = run.patience;
    WatchedLoss watched;
    int64_t step = 0;
    for (const double loss : run.losses) {
        if (loss_stays_high(config, ++step, loss, watched)) return step;
        if (run.eval_steps > 0 && step % run.eval_steps == 0) watched.logged.reset();  // an evaluation
    }
    return 0;
}

}  // namespace

TEST(LossWatchdog, EndsARunAfterTheStepsThatAxolotlsCallbackDoes) {
    for (size_t i = 0; i < kWatched.size(); ++i)
        EXPECT_EQ(last_step(kWatched[i]), kWatched[i].last_step) << "run " << i;
}

TEST(LossWatchdog, DoesNothingWithoutAThreshold) {
    WatchedLoss watched;
    for (int64_t step = 1; step < 10; ++step) EXPECT_FALSE(loss_stays_high(Config(), step, 1e6, watched));
}
