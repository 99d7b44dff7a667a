#include "engine/layout/attention_schedule.h"

#include "engine/layout/flash_calls.h"

#include <gtest/gtest.h>

#include "tests/plan/layout_cases.h"

namespace ringmaster {
namespace {

const AttentionMask kMasks[] = {
    {}, {{30, 31, 96, 180}, 0, true}, {{150, 192}, 20, true}, {{60, 90, 150, 192}, 0, true, {-1, 0, 0, 0}}};

std::vector<AttentionSchedule> schedules(RingAttnFunc func, int64_t tokens, int ranks,
                                         const AttentionMask& mask = {}) {
    const Layout layout = make_layout(func, tokens, ranks, 1, mask);
    std::vector<AttentionSchedule> all;
    for (int rank = 0; rank < ranks; ++rank) {
        all.push_back(func == RingAttnFunc::VarlenLlama3 ? make_gather_schedule(layout.ranks, rank, mask, 1)
                                                         : make_ring_schedule(layout.ranks, rank, mask));
    }
    return all;
}

class Schedule : public ::testing::TestWithParam<std::tuple<RingAttnFunc, int>> {};

TEST_P(Schedule, AgreesOnEveryMessageAndReadsOnlyWhatCame) {
    const auto [func, ranks] = GetParam();
    for (const AttentionMask& mask : kMasks) {
        const auto all = schedules(func, 192, ranks, mask);
        std::vector<std::vector<int64_t>> sent(static_cast<size_t>(ranks),
                                               std::vector<int64_t>(static_cast<size_t>(ranks)));
        auto came = sent;
        for (int rank = 0; rank < ranks; ++rank) {
            for (const Stage& stage : all[static_cast<size_t>(rank)].stages) {
                for (const Slice& slice : stage.slices) EXPECT_LE(slice.key_end, stage.keys);
                for (const KeyExchange& exchange : stage.exchanges) {
                    sent[static_cast<size_t>(rank)][static_cast<size_t>(exchange.to)] +=
                        count_keys(exchange.sent);
                    came[static_cast<size_t>(exchange.from)][static_cast<size_t>(rank)] += exchange.received;
                    EXPECT_LE(exchange.at + exchange.received, stage.keys);
                }
            }
        }
        EXPECT_EQ(sent, came);
    }
}

TEST_P(Schedule, MovesTheKeysThatTheLayoutsFiguresCount) {
    const auto [func, ranks] = GetParam();
    if (func == RingAttnFunc::BatchStripe) return;  // figures also count the keys in a stripe's gaps
    for (const AttentionMask& mask : kMasks) {
        const auto all = schedules(func, 192, ranks, mask);
        const std::vector<RankFigures> figures =
            layout_figures(make_layout(func, 192, ranks, 1, mask), 1, mask);
        for (int rank = 0; rank < ranks; ++rank) {
            EXPECT_EQ(received_keys(all[static_cast<size_t>(rank)]),
                      figures[static_cast<size_t>(rank)].received);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Layouts, Schedule,
                         ::testing::Combine(::testing::ValuesIn(kEveryLayout),
                                            ::testing::Values(1, 2, 3, 4, 8)));

TEST(RingSchedule, CallsTheKernelOnceAStageUnderZigzag) {
    for (const AttentionSchedule& schedule : schedules(RingAttnFunc::BatchZigzag, 64, 4)) {
        for (const Stage& stage : schedule.stages) EXPECT_EQ(stage.slices.size(), 1U);
    }
}

TEST(RingSchedule, AgreesOnWhichGradientsReturnUnsummed) {
    int one_call = 0, several = 0;
    for (const RingAttnFunc func : {RingAttnFunc::BatchZigzag, RingAttnFunc::BatchStripe,
                                    RingAttnFunc::VarlenZigzag, RingAttnFunc::Balanced}) {
        for (const AttentionMask& mask :
             {AttentionMask{}, AttentionMask{{}, 9}, AttentionMask{{24, 96, 128}, 0},
              AttentionMask{{24, 96, 128}, 20}}) {
            if (func == RingAttnFunc::VarlenZigzag && mask.documents.empty()) continue;
            const Layout layout = make_layout(func, 128, 4, 1, mask);
            std::vector<AttentionSchedule> all;
            for (int rank = 0; rank < 4; ++rank) all.push_back(make_ring_schedule(layout.ranks, rank, mask));
            for (const AttentionSchedule& schedule : all) {
                for (size_t stage = 1; stage < schedule.stages.size(); ++stage) {
                    for (const KeyExchange& exchange : schedule.stages[stage].exchanges) {
                        const Stage& there = all[static_cast<size_t>(exchange.to)].stages[stage];
                        EXPECT_EQ(exchange.sent_to_one_call, there.one_call);
                        EXPECT_EQ(there.one_call, is_one_call(there.slices));
                        ++(there.one_call ? one_call : several);
                    }
                }
            }
        }
    }
    EXPECT_GT(one_call, 10);
    EXPECT_GT(several, 10);
}

TEST(RingSchedule, SendsHalfOfTheKeysToTheRanksThatReadTheirBeginning) {
    // Rank 0 of 4 holds chunks 0 and 7, rank 1 holds 1 and 6; of rank 0's chunks, rank 1 reads only chunk 0.
    const auto all = schedules(RingAttnFunc::BatchZigzag, 64, 4);
    EXPECT_EQ(all[1].stages[1].keys, 8);
    EXPECT_EQ(all[0].stages[3].keys, 16) << "rank 1's, all of them";
}

TEST(RingSchedule, KeepsKeysThatNoRankReads) {
    const auto all = schedules(RingAttnFunc::BatchRing, 64, 4);
    for (int rank = 0; rank < 4; ++rank)
        EXPECT_EQ(sent_keys(all[static_cast<size_t>(rank)]), (3 - rank) * 16);
}

TEST(GatherSchedule, CallsTheKernelOnceADocumentOverTheKeysOfAllRanks) {
    const auto all = schedules(RingAttnFunc::VarlenLlama3, 64, 4);
    ASSERT_EQ(all[3].stages.size(), 1U);
    EXPECT_EQ(all[3].stages[0].slices.size(), 2U) << "what is before, and the triangle";
    EXPECT_EQ(all[3].stages[0].keys, 64);
    EXPECT_TRUE(all[0].stages[0].exchanges.size() == 3 && received_keys(all[0]) == 0);
}

}  // namespace
}  // namespace ringmaster
