// Tests how a deterministic backward pass is cut into launches that fill a GPU.
#include "engine/layout/flash_blocks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace ringmaster {
namespace {

using ::testing::ElementsAre;

constexpr int64_t kH100 = 132, kA100 = 108, kH20 = 78;

FlashCall documents(const std::vector<int64_t>& lengths) {
    FlashCall call{kCausalWindow, {}};
    int64_t at = 0;
    for (const int64_t length : lengths) {
        call.segments.push_back({at, at + length, at, at + length});
        at += length;
    }
    return call;
}

std::vector<int64_t> query_heads_a_launch(const FlashCall& call, const FlashHeads& heads,
                                          int64_t multiprocessors) {
    std::vector<int64_t> list;
    for (const FlashShare& share : flash_shares(call, heads, multiprocessors))
        list.push_back(share.heads * heads.group);
    return list;
}

TEST(FlashBlocks, HeadsAreCutSoThatEveryRoundIsFull) {
    const FlashHeads heads{1, 8, 4, 128};
    EXPECT_THAT(query_heads_a_launch(documents({32768}), heads, kH100), ElementsAre(12, 12, 4, 4));
    EXPECT_THAT(query_heads_a_launch(documents({600000}), heads, kH100), ElementsAre(12, 12, 4, 4));
    for (const int64_t of_launch : {12, 4}) {
        const int64_t turns = (kH100 + of_launch - 1) / of_launch;
        EXPECT_EQ(turns * of_launch, kH100);  // thread blocks: one per multiprocessor
    }
    // Four heads at a time make 37 · 4 thread blocks, which fill a B200.
    EXPECT_THAT(query_heads_a_launch(documents({32768}), heads, 148), ElementsAre(4, 4, 4, 4, 4, 4, 4, 4));
}

TEST(FlashBlocks, HeadsStayTogetherWhereThatIsNoSlower) {
    const FlashHeads heads{1, 8, 4, 128};
    // For a short row, the extra copies of dq that smaller launches need cost more than they save.
    EXPECT_THAT(query_heads_a_launch(documents({1024}), heads, kH100), ElementsAre(32));
    // One launch already fills this GPU.
    EXPECT_THAT(query_heads_a_launch(documents({32768}), heads, 128), ElementsAre(32));
    EXPECT_THAT(query_heads_a_launch(documents({32768}), {1, 1, 4, 128}, kH100), ElementsAre(4));
}

TEST(FlashBlocks, ALongDocumentHasALaunchOfItsOwn) {
    const FlashHeads heads{1, 8, 4, 128};
    std::vector<int64_t> lengths(20, 600);
    EXPECT_THAT(flash_shares(documents(lengths), heads, kH100), ElementsAre(FlashShare{0, 20, 0, 8}));
    lengths[7] = 32768;
    EXPECT_THAT(flash_shares(documents(lengths), heads, kH100),
                ElementsAre(FlashShare{0, 7, 0, 8}, FlashShare{7, 1, 0, 3}, FlashShare{7, 1, 3, 3},
                            FlashShare{7, 1, 6, 1}, FlashShare{7, 1, 7, 1}, FlashShare{8, 12, 0, 8}));
    lengths[7] = 800;
    EXPECT_THAT(flash_shares(documents(lengths), heads, kH100), ElementsAre(FlashShare{0, 20, 0, 8}));
}

/// In any call, each head of each segment is in one launch, and dq has no more copies than memory was planned
/// for.
TEST(FlashBlocks, EveryHeadOfEverySegmentIsInOneLaunch) {
    std::mt19937 random(3);
    const auto draw = [&](int64_t from, int64_t to) {
        return std::uniform_int_distribution<int64_t>(from, to)(random);
    };
    for (int round = 0; round < 400; ++round) {
        std::vector<int64_t> lengths(static_cast<size_t>(draw(1, 30)));
        for (int64_t& length : lengths) length = draw(0, 5) == 0 ? draw(1, 100000) : draw(1, 2000);
        const FlashHeads heads{draw(1, 3), draw(1, 40), draw(1, 8), 128};
        const FlashCall call = documents(lengths);
        const int64_t multiprocessors = std::array{kH100, kA100, kH20, int64_t{188}}[draw(0, 3)];
        const int64_t pairs = heads.rows * heads.key_heads * heads.group;
        const int64_t planned = flash_blocks(pairs, heads.head_dim).copies * pairs;
        std::vector<int64_t> seen(lengths.size() * static_cast<size_t>(heads.key_heads));
        for (const FlashShare& it : flash_shares(call, heads, multiprocessors)) {
            for (int64_t s = it.first_segment; s < it.first_segment + it.segments; ++s) {
                for (int64_t h = it.first_head; h < it.first_head + it.heads; ++h)
                    ++seen.at(static_cast<size_t>(s * heads.key_heads + h));
            }
            const int64_t of_launch = heads.rows * it.heads * heads.group;
            const int64_t blocks = of_launch * it.segments;
            EXPECT_LE((multiprocessors + blocks - 1) / blocks * of_launch, planned) << "round " << round;
        }
        EXPECT_THAT(seen, ::testing::Each(1)) << "round " << round;
    }
}

// If the order of sums does not matter, heads are divided among launches so that a launch's sums stay small;
// heads of 524,288 tokens fill a GPU.
TEST(FlashBlocks, LongRowsTakeAFewHeadsAtATime) {
    EXPECT_EQ(key_heads_at_once(8192, 8, 4), 8);
    EXPECT_EQ(key_heads_at_once(32768, 8, 4), 4);
    EXPECT_EQ(key_heads_at_once(600000, 8, 4), 1);
    EXPECT_EQ(key_heads_at_once(0, 8, 4), 8);
    EXPECT_EQ(query_heads_at_once(32768, 32, 4), 16);
    EXPECT_EQ(query_heads_at_once(131072, 32, 4), 4);
    EXPECT_EQ(query_heads_at_once(262144, 32, 4), 2);
    EXPECT_EQ(query_heads_at_once(1 << 20, 4, 4), 1) << "heads of one Ulysses rank";
    const std::vector<FlashShare> wanted = {{0, 3, 0, 3}, {0, 3, 3, 3}, {0, 3, 6, 2}};
    EXPECT_EQ(shares_of_heads(3, 8, 3), wanted);
}

}  // namespace
}  // namespace ringmaster
