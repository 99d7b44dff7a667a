#include "engine/layout/slices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "engine/error.h"
#include "tests/plan/layout_cases.h"

namespace ringmaster {
namespace {

/// Returns how often each (query, key) cell is covered.
std::vector<int> covered(const std::vector<Slice>& slices, int64_t queries, int64_t keys) {
    std::vector<int> count(queries * keys, 0);
    for (const Slice& slice : slices) {
        for (int64_t q = slice.query_begin; q < slice.query_end; ++q) {
            for (int64_t k = slice.key_begin; k < slice.key_end; ++k) {
                const bool visible =
                    slice.mask == SliceMask::Full || k - slice.key_begin <= q - slice.query_begin;
                if (visible) count.at(q * keys + k) += 1;
            }
        }
    }
    return count;
}

/// Returns the whole mask, row by row: 1 for each cell that is visible.
std::vector<int> mask(const std::vector<int64_t>& queries, const std::vector<int64_t>& keys) {
    std::vector<int> visible;
    for (int64_t p : queries) {
        for (int64_t s : keys) visible.push_back(s <= p ? 1 : 0);
    }
    return visible;
}

::testing::AssertionResult tiles(const Spans& queries, const Spans& keys) {
    const std::vector<Slice> slices = make_slices(queries, keys);
    const std::vector<int64_t> q = positions_of(queries), k = positions_of(keys);
    if (covered(slices, q.size(), k.size()) != mask(q, k))
        return ::testing::AssertionFailure() << "cells differ";
    int64_t cells = 0;
    for (const Slice& slice : slices) {
        cells += slice.visible_cells();
        if (slice.query_begin >= slice.query_end || slice.key_begin >= slice.key_end) {
            return ::testing::AssertionFailure() << "an empty slice";
        }
        if (slice.mask == SliceMask::Causal &&
            slice.query_end - slice.query_begin != slice.key_end - slice.key_begin) {
            return ::testing::AssertionFailure() << "a causal slice that is no square";
        }
    }
    int64_t expected = 0;
    for (int cell : mask(q, k)) expected += cell;
    if (cells != expected)
        return ::testing::AssertionFailure() << cells << " cells counted, " << expected << " are";
    return ::testing::AssertionSuccess();
}

/// Returns true if two full slices, adjacent in one direction, would form a rectangle.
bool some_pair_could_be_joined(const std::vector<Slice>& slices) {
    for (const Slice& a : slices) {
        for (const Slice& b : slices) {
            if (a.mask != SliceMask::Full || b.mask != SliceMask::Full) continue;
            const bool below =
                a.key_begin == b.key_begin && a.key_end == b.key_end && a.query_end == b.query_begin;
            const bool beside =
                a.query_begin == b.query_begin && a.query_end == b.query_end && a.key_end == b.key_begin;
            if (below || beside) return true;
        }
    }
    return false;
}

TEST(Slices, ZigzagTakesOneSlicePerHop) {
    const Layout layout = make_layout(RingAttnFunc::BatchZigzag, 64, 4, 1);  // chunks of 8, 16 local tokens
    EXPECT_THAT(make_slices(layout.ranks[1], layout.ranks[1]),
                testing::ElementsAre(Slice{0, 16, 0, 16, SliceMask::Causal}));
    EXPECT_THAT(make_slices(layout.ranks[2], layout.ranks[1]),
                testing::ElementsAre(Slice{0, 16, 0, 8, SliceMask::Full}))
        << "from a lower rank: all queries see its low chunk";
    EXPECT_THAT(make_slices(layout.ranks[1], layout.ranks[2]),
                testing::ElementsAre(Slice{8, 16, 0, 16, SliceMask::Full}))
        << "from a higher rank: the high queries see all of it";
}

TEST(Slices, ContiguousSeesItsOwnTriangleAllBeforeAndNothingAfter) {
    const Layout layout = make_layout(RingAttnFunc::BatchRing, 64, 4, 1);
    EXPECT_THAT(make_slices(layout.ranks[2], layout.ranks[2]),
                testing::ElementsAre(Slice{0, 16, 0, 16, SliceMask::Causal}));
    EXPECT_THAT(make_slices(layout.ranks[2], layout.ranks[0]),
                testing::ElementsAre(Slice{0, 16, 0, 16, SliceMask::Full}));
    EXPECT_TRUE(make_slices(layout.ranks[0], layout.ranks[2]).empty());
}

TEST(Slices, StripeFromAHigherRankIsATriangleShiftedByOne) {
    const Layout layout = make_layout(RingAttnFunc::BatchStripe, 64, 4, 1);
    EXPECT_THAT(make_slices(layout.ranks[2], layout.ranks[1]),
                testing::ElementsAre(Slice{0, 16, 0, 16, SliceMask::Causal}));
    EXPECT_THAT(make_slices(layout.ranks[1], layout.ranks[2]),
                testing::ElementsAre(Slice{1, 16, 0, 15, SliceMask::Causal}));
}

TEST(Slices, OneTokenARankStillTiles) {
    for (RingAttnFunc func : {RingAttnFunc::BatchRing, RingAttnFunc::BatchStripe}) {
        const Layout layout = make_layout(func, 5, 5, 1);
        for (const Spans& queries : layout.ranks) {
            for (const Spans& keys : layout.ranks) EXPECT_TRUE(tiles(queries, keys));
        }
    }
}

TEST(Slices, EveryHopOfEveryLayoutTilesTheFullMask) {
    std::mt19937 random(20);
    int hops = 0;
    for (RingAttnFunc func :
         {RingAttnFunc::BatchRing, RingAttnFunc::BatchZigzag, RingAttnFunc::BatchStripe}) {
        for (int ring = 1; ring <= 16; ++ring) {
            for (int ulysses : {1, 2, 3}) {
                const int64_t chunks = std::uniform_int_distribution<int64_t>(1, ring > 6 ? 2 : 6)(random);
                const int64_t tokens = chunks * length_multiple(func, ring, ulysses);
                const Layout layout = make_layout(func, tokens, ring, ulysses);
                int64_t cells = 0;
                for (int r = 0; r < ring; ++r) {
                    const Spans queries = ring_spans(layout, r, ulysses);
                    int64_t row_cells = 0;
                    for (int j = 0; j < ring; ++j, ++hops) {
                        const Spans keys = ring_spans(layout, j, ulysses);
                        ASSERT_TRUE(tiles(queries, keys))
                            << to_string(func) << " ring " << ring << " hop " << r << "," << j;
                        for (const Slice& slice : make_slices(queries, keys))
                            row_cells += slice.visible_cells();
                        EXPECT_LE(make_slices(queries, keys).size(), 1u) << "one slice a hop";
                    }
                    EXPECT_EQ(row_cells, causal_cells(queries));
                    cells += row_cells;
                }
                EXPECT_EQ(cells, tokens * (tokens + 1) / 2);
            }
        }
    }
    EXPECT_GT(hops, 10'000);
}

Spans random_spans(std::mt19937& random, int64_t step) {
    Spans spans;
    int64_t at = std::uniform_int_distribution<int64_t>(0, 12)(random);
    const int count = std::uniform_int_distribution<int>(1, 5)(random);
    for (int i = 0; i < count; ++i) {
        const int64_t size = std::uniform_int_distribution<int64_t>(1, 9)(random);
        const Span span{at, at + (size - 1) * step + 1, step};
        spans.push_back(span);
        at = span.end + std::uniform_int_distribution<int64_t>(0, 8)(random);
    }
    return spans;
}

TEST(Slices, AnySortedSpansTileTheFullMask) {
    std::mt19937 random(21);
    for (int i = 0; i < 5000; ++i) {
        const int64_t step = i % 3 == 0 ? std::uniform_int_distribution<int64_t>(2, 5)(random) : 1;
        const Spans queries = random_spans(random, step);
        const Spans keys = random_spans(random, step);
        ASSERT_TRUE(tiles(queries, keys)) << "case " << i;
        ASSERT_FALSE(some_pair_could_be_joined(make_slices(queries, keys))) << "case " << i;
    }
}

TEST(Slices, UnequalStepsAreRefused) {
    EXPECT_THROW(make_slices({{0, 8, 1}}, {{0, 8, 2}}), Error);
}

TEST(Slices, NothingSeesNothing) {
    EXPECT_TRUE(make_slices({}, {{0, 8, 1}}).empty());
    EXPECT_TRUE(make_slices({{0, 8, 1}}, {}).empty());
}

}  // namespace
}  // namespace ringmaster
