#include "engine/attention/ring_schedule.h"

#include <gtest/gtest.h>

namespace ringmaster {
namespace {

std::vector<std::vector<RingHop>> schedules(RingAttnFunc func, int64_t tokens, int ranks) {
    const Layout layout = make_layout(func, tokens, ranks, 1);
    std::vector<std::vector<RingHop>> all;
    for (int rank = 0; rank < ranks; ++rank) all.push_back(make_ring_schedule(layout.ranks, rank));
    return all;
}

class Schedule : public ::testing::TestWithParam<std::tuple<RingAttnFunc, int>> {};

TEST_P(Schedule, AgreesOnEveryTransferAndNeverReadsWhatDidNotCome) {
    const auto [func, ranks] = GetParam();
    const auto all = schedules(func, 48 * ranks, ranks);
    for (int rank = 0; rank < ranks; ++rank) {
        const auto& own = all[static_cast<size_t>(rank)];
        const auto& next = all[static_cast<size_t>((rank + 1) % ranks)];
        ASSERT_EQ(own.size(), static_cast<size_t>(ranks));
        EXPECT_EQ(own[0].source, rank);
        for (size_t h = 0; h < own.size(); ++h) {
            EXPECT_EQ(own[h].sends_on, next[h].receives_next) << "rank " << rank << " hop " << h;
            EXPECT_EQ(own[h].keys, 48);
            if (h == 0) continue;
            EXPECT_TRUE(own[h].slices.empty() || own[h - 1].receives_next) << "reads what did not come";
            EXPECT_TRUE(!own[h].sends_on || own[h - 1].receives_next) << "sends on what it does not hold";
        }
        EXPECT_FALSE(own.back().sends_on) << "nothing is sent after the last hop";
    }
}

INSTANTIATE_TEST_SUITE_P(Layouts, Schedule,
                         ::testing::Combine(::testing::Values(RingAttnFunc::BatchRing,
                                                              RingAttnFunc::BatchZigzag,
                                                              RingAttnFunc::BatchStripe),
                                            ::testing::Values(1, 2, 3, 4, 8)));

TEST(RingSchedule, CallsTheKernelOnceAHopUnderZigzag) {
    for (const auto& hops : schedules(RingAttnFunc::BatchZigzag, 64, 4)) {
        for (const RingHop& hop : hops) EXPECT_EQ(hop.slices.size(), 1U);
    }
}

TEST(RingSchedule, KeepsKeysThatNoLaterRankReads) {
    const auto all = schedules(RingAttnFunc::BatchRing, 64, 4);
    for (int rank = 0; rank < 4; ++rank) {
        int sent = 0;
        for (const RingHop& hop : all[static_cast<size_t>(rank)]) sent += hop.sends_on ? 1 : 0;
        EXPECT_EQ(sent, rank == 3 ? 0 : rank + 1);
    }
}

}  // namespace
}  // namespace ringmaster
