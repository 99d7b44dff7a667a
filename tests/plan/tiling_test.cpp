/// Tests that, for every layout and any documents and window, the hops' slices cover the full mask, each cell
/// once.
#include <gtest/gtest.h>

#include <string>

#include "engine/layout/layout_figures.h"
#include "engine/layout/slices.h"
#include "tests/plan/layout_cases.h"

namespace ringmaster {
namespace {

struct TilingCase {
    RingAttnFunc func = RingAttnFunc::BatchRing;
    int ring = 1, ulysses = 1;
    int64_t tokens = 1;
    AttentionMask mask;

    std::string text() const {
        std::string ends;
        for (size_t i = 0; i < mask.documents.size(); ++i) {
            ends += " " + std::to_string(mask.documents[i]);
            if (!mask.continues.empty() && mask.continues[i] >= 0)
                ends += " (continues " + std::to_string(mask.continues[i]) + ")";
        }
        return std::string(to_string(func)) + " " + std::to_string(ring) + " × " + std::to_string(ulysses) +
               ", " + std::to_string(tokens) + " tokens, window " + std::to_string(mask.window) +
               (mask.causal ? "" : ", not causal") + ", documents end at" + ends;
    }
};

int64_t below(std::mt19937_64& random, int64_t limit) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(limit));
}

/// Lets random documents share an earlier document as their prompt. A prompt has no prompt itself.
void share_prompts(std::mt19937_64& random, AttentionMask& mask) {
    std::vector<int64_t>& ends = mask.documents;
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    std::vector<int64_t> prompts;
    for (int64_t i = 0; i < static_cast<int64_t>(ends.size()); ++i) {
        const bool continues = !prompts.empty() && below(random, 3) > 0;
        mask.continues.push_back(
            continues ? prompts[static_cast<size_t>(below(random, static_cast<int64_t>(prompts.size())))]
                      : -1);
        if (!continues) prompts.push_back(i);
    }
}

TilingCase random_case(std::mt19937_64& random, RingAttnFunc func, int ranks) {
    TilingCase drawn;
    drawn.func = func;
    const int divisor = 1 + static_cast<int>(below(random, 4));
    drawn.ulysses = ranks % divisor == 0 ? divisor : 1;
    drawn.ring = ranks / drawn.ulysses;
    drawn.tokens = ranks + below(random, 6 * ranks + 24);
    switch (below(random, 4)) {
        case 0:
            if (below(random, 2) == 0) drawn.mask.documents = {drawn.tokens};
            break;
        case 1:  // one document, with padding after it
            drawn.mask.documents = {1 + below(random, drawn.tokens)};
            [[fallthrough]];
        default:
            for (int64_t count = 1 + below(random, 8); count > 0; --count)
                drawn.mask.documents.push_back(1 + below(random, drawn.tokens));
            std::sort(drawn.mask.documents.begin(), drawn.mask.documents.end());
            if (below(random, 3) > 0) drawn.mask.documents.push_back(drawn.tokens);
    }
    if (below(random, 2) == 0) drawn.mask.window = 1 + below(random, drawn.tokens + 2);
    drawn.mask.causal = drawn.mask.documents.empty() || below(random, 4) > 0;
    if (drawn.mask.causal && !drawn.mask.documents.empty() && below(random, 2) == 0)
        share_prompts(random, drawn.mask);
    return drawn;
}

::testing::AssertionResult tiles(const TilingCase& drawn) {
    const Layout layout = make_layout(drawn.func, drawn.tokens, drawn.ring, drawn.ulysses, drawn.mask);
    const auto tokens = static_cast<size_t>(drawn.tokens);
    std::vector<uint8_t> count(tokens * tokens);
    int64_t cells = 0, received = 0;
    for (int r = 0; r < drawn.ring; ++r) {
        const Spans queries = ring_spans(layout, r, drawn.ulysses);
        const std::vector<int64_t> q = positions_of(queries);
        int64_t of_rank = 0;
        for (int j = 0; j < drawn.ring; ++j) {
            const Spans keys = ring_spans(layout, j, drawn.ulysses);
            const std::vector<int64_t> k = positions_of(keys);
            std::vector<bool> read(k.size());
            for (const Slice& slice : make_slices(queries, keys, drawn.mask)) {
                const int64_t rows = slice.query_end - slice.query_begin;
                if (rows <= 0 || slice.key_begin >= slice.key_end)
                    return ::testing::AssertionFailure() << "an empty slice";
                if (slice.mask != SliceMask::Full && rows != slice.key_end - slice.key_begin)
                    return ::testing::AssertionFailure() << "a triangle that is no square";
                of_rank += slice.visible_cells();
                for (int64_t i = slice.query_begin; i < slice.query_end; ++i) {
                    for (int64_t s = slice.key_begin; s < slice.key_end; ++s) {
                        const int64_t row = i - slice.query_begin, column = s - slice.key_begin;
                        if (slice.mask == SliceMask::Causal && column > row) continue;
                        if (slice.mask == SliceMask::InverseCausal && column < row) continue;
                        ++count[static_cast<size_t>(q.at(static_cast<size_t>(i))) * tokens +
                                static_cast<size_t>(k.at(static_cast<size_t>(s)))];
                        read[static_cast<size_t>(s)] = true;
                    }
                }
            }
            if (j != r) received += std::count(read.begin(), read.end(), true);
        }
        if (of_rank != visible_cells(queries, drawn.mask))
            return ::testing::AssertionFailure() << of_rank << " cells of rank " << r << " in slices, "
                                                 << visible_cells(queries, drawn.mask) << " counted";
        cells += of_rank;
    }
    for (size_t query = 0; query < tokens; ++query) {
        for (size_t key = 0; key < tokens; ++key) {
            const bool seen = sees(drawn.mask, static_cast<int64_t>(query), static_cast<int64_t>(key));
            if (count[query * tokens + key] != (seen ? 1 : 0))
                return ::testing::AssertionFailure() << "query " << query << " and key " << key << " covered "
                                                     << int(count[query * tokens + key]) << " times";
            cells -= seen ? 1 : 0;
        }
    }
    if (cells != 0) return ::testing::AssertionFailure() << cells << " cells too many";
    const int64_t figures = all_received(layout_figures(layout, drawn.ulysses, drawn.mask));
    const bool strided = drawn.func == RingAttnFunc::BatchStripe;  // figures also count keys in gaps
    if (strided ? figures < received : figures != received)
        return ::testing::AssertionFailure() << received << " keys received, " << figures << " counted";
    return ::testing::AssertionSuccess();
}

void expect_tiling(int cases_of_each, uint64_t seed) {
    std::mt19937_64 random(seed);
    for (int i = 0; i < cases_of_each; ++i) {
        for (const RingAttnFunc func : kEveryLayout) {
            for (int ranks = 1; ranks <= 16; ++ranks) {
                const TilingCase drawn = random_case(random, func, ranks);
                ASSERT_TRUE(tiles(drawn)) << drawn.text();
            }
        }
    }
}

TEST(Tiling, OfASpreadOfCasesIsTheFullMaskExactly) {
    expect_tiling(20, 1);  // 2,240 cases
}

TEST(TilingExhaustive, OfMoreThanTwentyThousandCasesIsTheFullMaskExactly) {
    expect_tiling(200, 2);  // 22,400 cases
}

TEST(Tiling, EveryPositionHasOneHolderInSharesThatDifferByLittle) {
    std::mt19937_64 random(3);
    for (int i = 0; i < 1000; ++i) {
        const RingAttnFunc func = kEveryLayout[i % std::size(kEveryLayout)];
        const TilingCase drawn = random_case(random, func, 1 + i % 16);
        const Layout layout = make_layout(func, drawn.tokens, drawn.ring, drawn.ulysses, drawn.mask);
        std::vector<int64_t> all;
        int64_t least = drawn.tokens, most = 0;
        for (int rank = 0; rank < drawn.ring * drawn.ulysses; ++rank) {
            const std::vector<int64_t> own = positions_of(layout.ranks[static_cast<size_t>(rank)]);
            EXPECT_TRUE(std::is_sorted(own.begin(), own.end()));
            all.insert(all.end(), own.begin(), own.end());
            least = std::min<int64_t>(least, static_cast<int64_t>(own.size()));
            most = std::max<int64_t>(most, static_cast<int64_t>(own.size()));
        }
        std::sort(all.begin(), all.end());
        ASSERT_EQ(static_cast<int64_t>(all.size()), drawn.tokens) << drawn.text();
        for (int64_t p = 0; p < drawn.tokens; ++p) ASSERT_EQ(all[static_cast<size_t>(p)], p) << drawn.text();
        EXPECT_LE(most - least, 2) << drawn.text();
    }
}

TEST(Tiling, PositionsRestartWithEachDocument) {
    const AttentionMask mask{{3, 4, 9}, 0, true};
    EXPECT_EQ(positions_in_documents({{0, 12, 2}}, mask), (std::vector<int64_t>{0, 2, 0, 2, 4, 1}));
    EXPECT_EQ(positions_in_documents({{5, 7}}, {}), (std::vector<int64_t>{5, 6}));
    AttentionMask shared = mask;
    shared.continues = {-1, -1, 0};
    EXPECT_EQ(positions_in_documents({{2, 11}}, shared), (std::vector<int64_t>{2, 0, 3, 4, 5, 6, 7, 0, 1}));
}

}  // namespace
}  // namespace ringmaster
