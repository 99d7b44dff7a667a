// Tests, cell by cell and without tensors, how slices are grouped into calls.
#include "engine/layout/flash_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "engine/layout/layout.h"

namespace ringmaster {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

using Cells = std::map<std::pair<int64_t, int64_t>, int>;  // how often each (query, key) is seen

Cells cells_of(const std::vector<Slice>& slices) {
    Cells cells;
    for (const Slice& it : slices) {
        for (int64_t i = it.query_begin; i < it.query_end; ++i) {
            for (int64_t j = it.key_begin; j < it.key_end; ++j) {
                const int64_t row = i - it.query_begin, column = j - it.key_begin;
                if (it.mask == SliceMask::Full || (it.mask == SliceMask::Causal && column <= row) ||
                    (it.mask == SliceMask::InverseCausal && column >= row))
                    ++cells[{i, j}];
            }
        }
    }
    return cells;
}

Cells cells_of(const std::vector<FlashCall>& calls) {
    Cells cells;
    for (const FlashCall& call : calls) {
        for (const FlashSegment& it : call.segments) {
            for (int64_t i = 0; i < it.queries(); ++i) {
                const int64_t corner = i + it.keys() - it.queries();
                for (int64_t j = 0; j < it.keys(); ++j) {
                    if (call.window.left >= 0 && j < corner - call.window.left) continue;
                    if (call.window.right >= 0 && j > corner + call.window.right) continue;
                    ++cells[{it.query_begin + i, it.key_begin + j}];
                }
            }
        }
    }
    return cells;
}

void expect_ordered(const std::vector<FlashCall>& calls) {
    for (const FlashCall& call : calls) {
        ASSERT_FALSE(call.segments.empty());
        for (size_t i = 1; i < call.segments.size(); ++i)
            EXPECT_GE(call.segments[i].query_begin, call.segments[i - 1].query_end);
    }
}

AttentionMask documents(std::vector<int64_t> ends, int64_t window = 0) {
    AttentionMask mask;
    mask.documents = std::move(ends);
    mask.window = window;
    return mask;
}

std::vector<FlashCall> calls_of(const Spans& queries, const Spans& keys, const AttentionMask& mask = {}) {
    return flash_calls(make_slices(queries, keys, mask));
}

TEST(FlashCalls, OfATriangleAndTheKeysBeforeItAreOneSegment) {
    EXPECT_THAT(flash_calls({{0, 4, 0, 6, SliceMask::Full}, {0, 4, 6, 10, SliceMask::Causal}}),
                ElementsAre(FlashCall{kCausalWindow, {{0, 4, 0, 10}}}));
}

TEST(FlashCalls, OfAWindowTheKeysBehindItsTrailingEdgeAreInItsSegment) {
    EXPECT_THAT(flash_calls({{0, 4, 0, 4, SliceMask::InverseCausal}, {0, 4, 4, 9, SliceMask::Full}}),
                ElementsAre(FlashCall{{5, FlashWindow::kNone}, {{0, 4, 0, 9}}}));
}

TEST(FlashCalls, OfPackedDocumentsAreOneCall) {
    const auto calls = calls_of({{0, 64, 1}}, {{0, 64, 1}}, documents({5, 6, 30, 64}));
    EXPECT_THAT(calls, ElementsAre(FlashCall{
                           kCausalWindow, {{0, 5, 0, 5}, {5, 6, 5, 6}, {6, 30, 6, 30}, {30, 64, 30, 64}}}));
}

TEST(FlashCalls, OfASlidingWindowAreOneSegmentWithThatWindow) {
    EXPECT_THAT(calls_of({{0, 64, 1}}, {{0, 64, 1}}, documents({64}, 10)),
                ElementsAre(FlashCall{{9, 0}, {{0, 64, 0, 64}}}));
    EXPECT_THAT(calls_of({{0, 64, 1}}, {{0, 64, 1}}, documents({30, 64}, 10)),
                ElementsAre(FlashCall{{9, 0}, {{0, 30, 0, 30}, {30, 64, 30, 64}}}));
}

TEST(FlashCalls, OfADocumentShorterThanTheWindowShareItsCall) {
    EXPECT_THAT(calls_of({{0, 64, 1}}, {{0, 64, 1}}, documents({7, 64}, 10)), SizeIs(1));
}

TEST(FlashCalls, OfZigzagHopsAreSingleSegments) {
    const Layout layout = make_layout(RingAttnFunc::BatchZigzag, 64, 4, 1);
    for (int rank = 0; rank < 4; ++rank) {
        for (const Stage& stage : make_ring_schedule(layout.ranks, rank).stages) {
            const auto calls = flash_calls(stage.slices);
            ASSERT_THAT(calls, SizeIs(1));
            EXPECT_THAT(calls[0].segments, SizeIs(1));
        }
    }
}

/// For any layout, documents and window, a few calls see each of the hop's cells exactly once.
TEST(FlashCalls, SeeEveryCellOnceOfAnyHop) {
    std::mt19937 random(17);
    const auto draw = [&](int64_t from, int64_t to) {
        return std::uniform_int_distribution<int64_t>(from, to)(random);
    };
    size_t hops = 0;
    for (int round = 0; round < 120; ++round) {
        AttentionMask mask;
        for (int64_t end = draw(1, 40); end < 96; end += draw(1, 40)) mask.documents.push_back(end);
        mask.documents.push_back(draw(0, 3) == 0 ? 90 : 96);
        mask.documents.erase(std::remove_if(mask.documents.begin(), mask.documents.end() - 1,
                                            [&](int64_t end) { return end >= mask.documents.back(); }),
                             mask.documents.end() - 1);
        if (round % 2 == 1) mask.window = draw(1, 50);
        if (round % 3 == 1) {  // all documents share the first one as their prompt
            mask.continues.assign(mask.documents.size(), 0);
            mask.continues[0] = -1;
        }
        const RingAttnFunc func =
            std::array{RingAttnFunc::BatchZigzag, RingAttnFunc::BatchStripe, RingAttnFunc::BatchRing,
                       RingAttnFunc::Balanced}[static_cast<size_t>(round) % 4];
        const Layout layout = make_layout(func, 96, 4, 1, mask);
        for (int rank = 0; rank < 4; ++rank) {
            for (const Stage& stage : make_ring_schedule(layout.ranks, rank, mask).stages) {
                const auto calls = flash_calls(stage.slices);
                expect_ordered(calls);
                ASSERT_EQ(cells_of(calls), cells_of(stage.slices)) << "round " << round << " rank " << rank;
                hops += !calls.empty();
            }
        }
    }
    EXPECT_GT(hops, 500U);
}

/// Tests slices that no layout makes; some queries have keys in several places.
TEST(FlashCalls, SeeEveryCellOnceOfRandomSlices) {
    std::mt19937 random(5);
    const auto draw = [&](int64_t from, int64_t to) {
        return std::uniform_int_distribution<int64_t>(from, to)(random);
    };
    for (int round = 0; round < 300; ++round) {
        std::vector<Slice> slices;
        for (int64_t key = 0; key < 40;) {
            const int64_t keys = draw(1, 12), query = draw(0, 20);
            const auto mask = static_cast<SliceMask>(draw(0, 2));
            const int64_t queries = mask == SliceMask::Full ? draw(1, 12) : keys;
            slices.push_back({query, query + queries, key, key + keys, mask});
            key += keys + (draw(0, 1) == 0 ? 0 : draw(1, 3));
        }
        const auto calls = flash_calls(slices);
        expect_ordered(calls);
        ASSERT_EQ(cells_of(calls), cells_of(slices)) << "round " << round;
        const int64_t cut = draw(1, 20);
        auto parts = of_queries(slices, 0, cut);
        for (const Slice& slice : of_queries(slices, cut, 40)) parts.push_back(slice);
        ASSERT_EQ(cells_of(parts), cells_of(slices)) << "cut at " << cut;
    }
}

FlashPacking packed(const FlashCall& call, int64_t rows = 1) {
    const std::vector<FlashPacking> launches = pack(call, rows);
    EXPECT_THAT(launches, SizeIs(1));
    return launches.at(0);
}

TEST(FlashCalls, PackGapsAsSegmentsThatSeeNothing) {
    const FlashPacking packing = packed({kCausalWindow, {{2, 4, 0, 3}, {6, 9, 5, 8}}});
    EXPECT_EQ(packing.window, kCausalWindow);
    EXPECT_EQ(packing.queries, (KeyRange{2, 9}));
    EXPECT_THAT(packing.keys, ElementsAre(KeyRange{0, 8}));
    EXPECT_THAT(packing.query_ends, ElementsAre(0, 2, 4, 4, 7));
    EXPECT_THAT(packing.key_ends, ElementsAre(0, 3, 3, 5, 8));
    EXPECT_TRUE(packing.gaps);
    EXPECT_FALSE(packing.dense);
    EXPECT_EQ(packing.most_queries, 3);
    EXPECT_EQ(packing.most_keys, 3);
}

TEST(FlashCalls, PackGapsThatAreLongerThanAnySegmentInPieces) {
    const FlashPacking packing = packed({kCausalWindow, {{0, 10, 0, 10}, {410, 420, 290, 300}}});
    EXPECT_THAT(packing.query_ends, ElementsAre(0, 10, 138, 266, 394, 410, 410, 410, 410, 420));
    EXPECT_THAT(packing.key_ends, ElementsAre(0, 10, 10, 10, 10, 10, 138, 266, 290, 300));
    EXPECT_EQ(packing.most_queries, 128);  // takes as few blocks as 10 queries do
    EXPECT_EQ(packing.most_keys, 128);
}

TEST(FlashCalls, PackSharedKeysOnceForEachSegment) {
    const FlashPacking packing = packed({kCausalWindow, {{0, 2, 0, 3}, {2, 4, 0, 5}}}, 2);
    EXPECT_THAT(packing.keys, ElementsAre(KeyRange{0, 3}, KeyRange{0, 5}));
    EXPECT_THAT(packing.query_ends, ElementsAre(0, 2, 4, 6, 8));
    EXPECT_THAT(packing.key_ends, ElementsAre(0, 3, 8, 11, 16));
    EXPECT_FALSE(packing.gaps);
    EXPECT_FALSE(pack_whole({kCausalWindow, {{0, 2, 0, 3}, {2, 4, 0, 5}}}, 2, 4, 5).has_value());
}

TEST(FlashCalls, PackOneSegmentDenselyAndPaddingAsAGap) {
    const FlashCall call{kCausalWindow, {{0, 300, 0, 300}}};
    EXPECT_TRUE(packed(call, 3).dense);
    const auto whole = pack_whole(call, 1, 900, 800);
    ASSERT_TRUE(whole.has_value());
    EXPECT_FALSE(whole->dense);
    EXPECT_THAT(whole->query_ends, ElementsAre(0, 300, 600, 900, 900, 900));
    EXPECT_THAT(whole->key_ends, ElementsAre(0, 300, 300, 300, 600, 800));
}

// If a window has no right end, the kernel uses max_seqlen_k, counted from the corner, as the right end.
TEST(FlashCalls, PackWindowsWithoutARightEndWithAsManyKeysAsQueries) {
    const FlashCall call{{3, FlashWindow::kNone}, {{0, 31, 0, 3}, {31, 41, 3, 18}}};
    EXPECT_EQ(packed(call).most_keys, 31);
    const FlashCall alone{{25, FlashWindow::kNone}, {{0, 31, 0, 15}}};
    EXPECT_EQ(packed(alone).most_keys, 31);
    EXPECT_FALSE(packed(alone).dense);  // max_seqlen_k is the segment's 15 keys
}

TEST(FlashCalls, PackMoreSegmentsThanAGridTakesInSeveralLaunches) {
    FlashCall call{kCausalWindow, {}};
    constexpr int64_t kSegments = 70000;
    for (int64_t i = 0; i < kSegments; ++i) call.segments.push_back({2 * i, 2 * i + 2, 2 * i, 2 * i + 2});
    const std::vector<FlashPacking> launches = pack(call, 1);
    EXPECT_THAT(launches, SizeIs(2));
    int64_t segments = 0;
    for (const FlashPacking& launch : launches) {
        EXPECT_LE(launch.segments(), kMostFlashSegments);
        segments += launch.segments();
    }
    EXPECT_EQ(segments, kSegments);
    EXPECT_EQ(launches[1].queries.begin, launches[0].queries.end);
    EXPECT_FALSE(pack_whole(call, 1, 2 * kSegments, 2 * kSegments).has_value());
    EXPECT_TRUE(pack_whole({kCausalWindow, {{0, 9, 0, 9}}}, 1, 9, 9).has_value());
}

}  // namespace
}  // namespace ringmaster
