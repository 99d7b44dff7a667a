/// Tests how the layouts balance long-tailed mixes of documents: work, tokens, and keys that ranks exchange.
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/plan/layout_cases.h"

namespace ringmaster {
namespace {

constexpr int64_t kTokensOfRank = 8192;

std::vector<RankFigures> figures_of(RingAttnFunc func, int ranks, const AttentionMask& mask) {
    const int64_t tokens = ranks * kTokensOfRank;
    return layout_figures(make_layout(func, tokens, ranks, 1, mask), 1, mask);
}

/// Returns the largest of a figure of the ranks ÷ their mean; 1 if all are 0.
double balance(const std::vector<RankFigures>& figures, int64_t RankFigures::*of) {
    double largest = 0, sum = 0;
    for (const RankFigures& rank : figures) {
        largest = std::max(largest, double(rank.*of));
        sum += double(rank.*of);
    }
    return sum > 0 ? largest * double(figures.size()) / sum : 1;
}

double work_balance(const std::vector<RankFigures>& figures) {
    return balance(figures, &RankFigures::cells);
}

double token_balance(const std::vector<RankFigures>& figures) {
    return balance(figures, &RankFigures::tokens);
}

/// Returns the keys that a full ring moves: each rank receives all keys that the others hold.
double full_ring(int ranks) {
    return double(ranks) * double(ranks - 1) * double(kTokensOfRank);
}

class LongTailedMix : public ::testing::TestWithParam<std::tuple<double, int, int>> {};

TEST_P(LongTailedMix, IsLevelUnderBalancedAndMovesLittle) {
    const auto [sigma, ranks, seed] = GetParam();
    const AttentionMask mask =
        log_normal_documents(ranks * kTokensOfRank, 7.6, sigma, static_cast<uint64_t>(seed));
    std::printf("sigma %.1f, %d ranks, seed %d, %zu documents:   work   tokens   of the full ring\n", sigma,
                ranks, seed, mask.documents.size());
    for (const RingAttnFunc func : kEveryLayout) {
        const std::vector<RankFigures> figures = figures_of(func, ranks, mask);
        std::printf("  %-14s %8.3f %8.3f %8.1f %%\n", to_string(func), work_balance(figures),
                    token_balance(figures), 100 * double(all_received(figures)) / full_ring(ranks));
    }
    const std::vector<RankFigures> balanced = figures_of(RingAttnFunc::Balanced, ranks, mask);
    EXPECT_LE(work_balance(balanced), 1.05);
    EXPECT_LE(token_balance(balanced), 1.02);
    const std::vector<RankFigures> zigzag = figures_of(RingAttnFunc::VarlenZigzag, ranks, mask);
    EXPECT_LE(double(all_received(balanced)), 0.6 * double(all_received(zigzag)));
}

INSTANTIATE_TEST_SUITE_P(Of, LongTailedMix,
                         ::testing::Combine(::testing::Values(1.2, 1.8), ::testing::Values(8, 64),
                                            ::testing::Values(1, 2, 3)));

TEST(Balanced, MovesNothingWhereDocumentsAreAlignedToShards) {
    for (const int64_t size : {kTokensOfRank, kTokensOfRank / 2, kTokensOfRank / 4}) {
        AttentionMask mask;
        for (int64_t end = size; end <= 8 * kTokensOfRank; end += size) mask.documents.push_back(end);
        for (const RingAttnFunc func :
             {RingAttnFunc::BatchRing, RingAttnFunc::VarlenLlama3, RingAttnFunc::Balanced}) {
            EXPECT_EQ(all_received(figures_of(func, 8, mask)), 0) << to_string(func);
            EXPECT_EQ(work_balance(figures_of(func, 8, mask)), 1) << to_string(func);
        }
    }
}

AttentionMask documents_of_a_quarter_shard(int ranks, double sigma, uint64_t seed) {
    const double mu =
        std::log(double(kTokensOfRank) / 4) - sigma * sigma / 2;  // gives the mean exp(mu + sigma² ÷ 2)
    return log_normal_documents(ranks * kTokensOfRank, mu, sigma, seed);
}

TEST(Balanced, MovesAtMostAFifthOfTheFullRingOnDocumentsOfAQuarterShard) {
    for (const int ranks : {8, 16, 64}) {
        for (uint64_t seed = 1; seed <= 10; ++seed) {
            for (const double sigma : {0.5, 1.0}) {
                const AttentionMask mask = documents_of_a_quarter_shard(ranks, sigma, seed);
                const std::vector<RankFigures> figures = figures_of(RingAttnFunc::Balanced, ranks, mask);
                EXPECT_LE(double(all_received(figures)), 0.2 * full_ring(ranks))
                    << ranks << " ranks, seed " << seed << ", sigma " << sigma;
                EXPECT_LE(work_balance(figures), 1.05)
                    << ranks << " ranks, seed " << seed << ", sigma " << sigma;
            }
        }
    }
}

/// Returns a lower bound on the keys that move in any layout in which no rank has more than 1.05 times the
/// mean work. Suppose that the n ranks that reach furthest into a document do no other work. The next rank
/// must then still read r keys, where r · (r + 1) ÷ 2 is the document's remaining work.
double least_received(int ranks, const AttentionMask& mask) {
    const auto cells = [](const DocumentRange& document) {
        return 0.5 * double(document.size()) * double(document.size() + 1);
    };
    const std::vector<DocumentRange> documents = documents_of(mask, ranks * kTokensOfRank);
    double most = 0, keys = 0;
    for (const DocumentRange& document : documents) most += 1.05 * cells(document) / ranks;
    for (const DocumentRange& document : documents) {
        for (int n = 1; n < ranks && cells(document) > n * most; ++n) {
            keys += std::sqrt(2 * (cells(document) - n * most)) - 0.5;
        }
    }
    return keys;
}

TEST(Balanced, MovesAtMostAFifthOnFewRanksTooButWhereDocumentsAreTooLong) {
    int possible = 0, missed = 0;
    for (const int ranks : {2, 3, 4, 6, 8}) {
        for (const double sigma : {0.5, 1.0}) {
            int cannot = 0, above = 0;
            for (uint64_t seed = 1; seed <= 40; ++seed) {
                const AttentionMask mask = documents_of_a_quarter_shard(ranks, sigma, seed);
                const std::vector<RankFigures> figures = figures_of(RingAttnFunc::Balanced, ranks, mask);
                EXPECT_LE(work_balance(figures), 1.05) << ranks << " ranks, seed " << seed;
                EXPECT_LE(token_balance(figures), 1.02) << ranks << " ranks, seed " << seed;
                EXPECT_GE(double(all_received(figures)), least_received(ranks, mask));
                cannot += least_received(ranks, mask) > 0.2 * full_ring(ranks) ? 1 : 0;
                above += double(all_received(figures)) > 0.2 * full_ring(ranks) ? 1 : 0;
            }
            std::printf("%d ranks, sigma %.1f: %2d of 40 above a fifth, %2d of them could not be below\n",
                        ranks, sigma, above, cannot);
            possible += 40 - cannot;
            missed += above - cannot;
        }
    }
    EXPECT_LE(missed, 9) << "of " << possible << ": several documents that are long together";
}

TEST(Balanced, IsAsLevelAsZigzagOnOneDocument) {
    for (const int ranks : {2, 3, 8, 16}) {
        const std::vector<RankFigures> balanced = figures_of(RingAttnFunc::Balanced, ranks, {});
        EXPECT_LE(work_balance(balanced), 1.01);
        EXPECT_LE(double(all_received(balanced)),
                  1.01 * double(all_received(figures_of(RingAttnFunc::BatchZigzag, ranks, {}))));
    }
}

TEST(Balanced, HoldsEveryTokenOnceOfManyTinyDocuments) {
    for (const int ranks : {3, 5, 11}) {
        for (const bool causal : {true, false}) {
            for (uint64_t seed = 1; seed <= 3; ++seed) {
                AttentionMask mask = log_normal_documents(ranks * 200, 1, 0.5, seed);
                mask.causal = causal;
                std::vector<int64_t> all;
                for (const Spans& spans :
                     make_layout(RingAttnFunc::Balanced, ranks * 200, ranks, 1, mask).ranks) {
                    EXPECT_EQ(count_tokens(spans), 200);
                    for (const int64_t position : positions_of(spans)) all.push_back(position);
                }
                std::sort(all.begin(), all.end());
                EXPECT_EQ(std::unique(all.begin(), all.end()) - all.begin(), ranks * 200);
            }
        }
    }
}

TEST(Balanced, IsLevelUnderAWindowToo) {
    AttentionMask mask = log_normal_documents(8 * kTokensOfRank, 7.6, 1.2, 5);
    mask.window = 1024;
    const std::vector<RankFigures> figures = figures_of(RingAttnFunc::Balanced, 8, mask);
    EXPECT_LE(work_balance(figures), 1.05);
    EXPECT_LE(all_received(figures), 8 * 3 * 1024) << "few cuts, a window each";
}

TEST(ChooseLayout, TakesTheOneThatIsDoneFirst) {
    const LayoutCosts work{0, 1, 0}, bytes{0, 0, 1};
    EXPECT_EQ(choose_layout(65536, 8, 1, {}, work), RingAttnFunc::BatchZigzag) << "nothing is better";
    AttentionMask aligned;
    for (int64_t end = 8192; end <= 65536; end += 8192) aligned.documents.push_back(end);
    EXPECT_EQ(choose_layout(65536, 8, 1, aligned, bytes), RingAttnFunc::VarlenLlama3);
    AttentionMask mixed = log_normal_documents(65536, 7.6, 1.2, 1);
    EXPECT_EQ(choose_layout(65536, 8, 1, mixed, {0, 1, 1000}), RingAttnFunc::Balanced);
}

}  // namespace
}  // namespace ringmaster
