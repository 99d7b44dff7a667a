#include "engine/layout/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "engine/error.h"
#include "tests/plan/layout_cases.h"

namespace ringmaster {
namespace {

TEST(Layout, BatchRingGivesEachRankOneStretch) {
    const Layout layout = make_layout(RingAttnFunc::BatchRing, 12, 3, 1);
    EXPECT_THAT(positions_of(layout.ranks[1]), testing::ElementsAre(4, 5, 6, 7));
}

TEST(Layout, BatchZigzagPairsAChunkWithItsMirror) {
    const Layout layout = make_layout(RingAttnFunc::BatchZigzag, 12, 3, 1);
    EXPECT_THAT(positions_of(layout.ranks[0]), testing::ElementsAre(0, 1, 10, 11));
    EXPECT_THAT(positions_of(layout.ranks[1]), testing::ElementsAre(2, 3, 8, 9));
    EXPECT_THAT(layout.ranks[2], testing::ElementsAre(Span{4, 8, 1})) << "neighbouring chunks are one span";
}

TEST(Layout, BatchStripeDealsPositionsOut) {
    const Layout layout = make_layout(RingAttnFunc::BatchStripe, 12, 3, 1);
    EXPECT_THAT(positions_of(layout.ranks[2]), testing::ElementsAre(2, 5, 8, 11));
}

TEST(Layout, UlyssesRanksDivideWhatTheirRingRankHolds) {
    const Layout layout = make_layout(RingAttnFunc::BatchZigzag, 24, 2, 3);
    EXPECT_THAT(positions_of(layout.ranks[0]), testing::ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(positions_of(layout.ranks[1]), testing::ElementsAre(4, 5, 18, 19));
    EXPECT_THAT(ring_spans(layout, 0, 3), testing::ElementsAre(Span{0, 6, 1}, Span{18, 24, 1}));
}

TEST(Layout, LengthsThatAreNoMultipleAreRefusedWithTheMultiple) {
    EXPECT_EQ(length_multiple(RingAttnFunc::BatchRing, 2, 2), 4);
    EXPECT_EQ(length_multiple(RingAttnFunc::BatchZigzag, 2, 2), 8);
    EXPECT_EQ(padded_length(RingAttnFunc::BatchZigzag, 1001, 4, 1), 1008);
    try {
        make_layout(RingAttnFunc::BatchZigzag, 12, 2, 2);
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.hint, testing::HasSubstr("8"));
    }
    EXPECT_EQ(padded_length(RingAttnFunc::VarlenLlama3, 1001, 4, 1), 1001) << "uneven shards";
    EXPECT_THROW(make_layout(RingAttnFunc::Auto, 16, 2, 1), Error);
}

/// Calls `check(func, ring, ulysses)` for every layout over many meshes.
template <typename Check>
void for_every_layout(const Check& check) {
    for (RingAttnFunc func :
         {RingAttnFunc::BatchRing, RingAttnFunc::BatchZigzag, RingAttnFunc::BatchStripe}) {
        for (int ring : {1, 2, 3, 4, 7, 8}) {
            for (int ulysses : {1, 2, 3, 4}) {
                SCOPED_TRACE(std::string(to_string(func)) + " " + std::to_string(ring) + " × " +
                             std::to_string(ulysses));
                check(func, ring, ulysses);
            }
        }
    }
}

TEST(Layout, GivesEachPositionToExactlyOneRankInEqualShares) {
    for_every_layout([](RingAttnFunc func, int ring, int ulysses) {
        const int64_t tokens = 3 * length_multiple(func, ring, ulysses);
        const Layout layout = make_layout(func, tokens, ring, ulysses);
        ASSERT_EQ(static_cast<int>(layout.ranks.size()), ring * ulysses);
        std::set<int64_t> seen;
        for (int rank = 0; rank < ring * ulysses; ++rank) {
            const std::vector<int64_t> mine = positions_of(layout.ranks[rank]);
            EXPECT_EQ(layout.tokens_of(rank), tokens / (ring * ulysses));
            EXPECT_EQ(static_cast<int64_t>(mine.size()), layout.tokens_of(rank));
            EXPECT_TRUE(std::is_sorted(mine.begin(), mine.end()));
            for (int64_t p : mine) EXPECT_TRUE(seen.insert(p).second) << p;
        }
        EXPECT_EQ(*seen.begin(), 0);
        EXPECT_EQ(*seen.rbegin(), tokens - 1);
    });
}

TEST(Layout, UlyssesGroupsConcatenateToTheirRingRanksSortedSpans) {
    for_every_layout([](RingAttnFunc func, int ring, int ulysses) {
        const Layout layout = make_layout(func, 2 * length_multiple(func, ring, ulysses), ring, ulysses);
        for (int r = 0; r < ring; ++r) {
            std::vector<int64_t> joined;
            for (int u = 0; u < ulysses; ++u) {
                for (int64_t p : positions_of(layout.ranks[r * ulysses + u])) joined.push_back(p);
            }
            EXPECT_EQ(positions_of(ring_spans(layout, r, ulysses)), joined);
        }
    });
}

TEST(Layout, WorkOfAllRanksIsTheCausalTriangle) {
    for_every_layout([](RingAttnFunc func, int ring, int ulysses) {
        const int64_t tokens = 5 * length_multiple(func, ring, ulysses);
        int64_t cells = 0;
        for (const Spans& spans : make_layout(func, tokens, ring, ulysses).ranks)
            cells += causal_cells(spans);
        EXPECT_EQ(cells, tokens * (tokens + 1) / 2);
    });
}

TEST(Layout, ZigzagGivesEveryRankTheSameWork) {
    const Layout layout = make_layout(RingAttnFunc::BatchZigzag, 4096, 8, 1);
    for (const Spans& spans : layout.ranks) EXPECT_EQ(causal_cells(spans), causal_cells(layout.ranks[0]));
    const Layout ring = make_layout(RingAttnFunc::BatchRing, 4096, 8, 1);
    EXPECT_GT(causal_cells(ring.ranks[7]), 14 * causal_cells(ring.ranks[0]));
}

}  // namespace
}  // namespace ringmaster
