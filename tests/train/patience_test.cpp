#include "engine/train/patience.h"

#include <gtest/gtest.h>

namespace ringmaster {
namespace {

using namespace std::chrono_literals;

TEST(Patience, LastsTwoMinutesWithinStepsUnlessTheyAreLongThemselves) {
    Patience patience{Config()};
    EXPECT_EQ(patience.in_steps(), 120s);
    EXPECT_EQ(patience.elsewhere(), 30min);
    patience.step_took(59);
    EXPECT_EQ(patience.in_steps(), 120s);
    patience.step_took(1200);
    patience.step_took(1);
    EXPECT_EQ(patience.in_steps(), 2400s);
    EXPECT_EQ(patience.elsewhere(), 2400s);
}

TEST(Patience, IsWhatTheFileSays) {
    Config config;
    config.ddp_timeout = 6;
    Patience patience(config);
    patience.step_took(1200);
    EXPECT_EQ(patience.in_steps(), 6s);
    EXPECT_EQ(patience.elsewhere(), 30min);
    config.ddp_timeout = 7200;
    EXPECT_EQ(Patience(config).elsewhere(), 2h);
}

}  // namespace
}  // namespace ringmaster
