#include "engine/layout/score_blocks.h"

#include <gtest/gtest.h>

namespace ringmaster {
namespace {

TEST(ScoreBlocks, FillTheirBoundWithNoMoreQueriesThanKeys) {
    for (int64_t heads = 1; heads <= 32768; heads = heads * 3 / 2 + 1) {
        const ScoreBlocks blocks = score_blocks(heads);
        EXPECT_LE(heads * blocks.queries * blocks.keys, kMostScores) << heads;
        EXPECT_LE(blocks.queries, blocks.keys) << heads;
        EXPECT_LT(kMostScores, heads * 2 * blocks.queries * (blocks.keys + 16)) << heads;
    }
    EXPECT_EQ(score_blocks(8).queries, 1024);
    EXPECT_EQ(score_blocks(16).queries, 512);
    EXPECT_EQ(score_blocks(16).keys, 1024);
    EXPECT_EQ(score_blocks(1 << 20).queries, 16);
    EXPECT_EQ(score_blocks(1 << 20).keys, 16);
}

// For 2 rows of 16 heads over 8,192 causal tokens, a backward pass holds three float32 numbers and one of 16
// bits for each of a block's 2^23 scores, and little else.
TEST(ScoreBlocks, TakeBoundedMemory) {
    const ScoreBlockShape shape{2, 16, 8, 256, 2};
    const std::vector<Slice> slices = {{0, 8192, 0, 8192, SliceMask::Causal}};
    const double scores = 14.0 * kMostScores;
    EXPECT_GT(score_block_bytes(shape, slices, true), scores);
    EXPECT_LT(score_block_bytes(shape, slices, true), 1.5 * scores);
    EXPECT_LT(score_block_bytes(shape, slices, false), score_block_bytes(shape, slices, true) / 2);
    const std::vector<Slice> longer = {{0, 1 << 20, 0, 1 << 20, SliceMask::Causal}};
    EXPECT_EQ(score_block_bytes(shape, longer, true), score_block_bytes(shape, slices, true));
    const std::vector<Slice> shorter = {{0, 100, 0, 100, SliceMask::Causal}, {100, 300, 100, 300}};
    EXPECT_LT(score_block_bytes(shape, shorter, true), score_block_bytes(shape, slices, true) / 4);
}

}  // namespace
}  // namespace ringmaster
