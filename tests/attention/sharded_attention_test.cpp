#include "engine/attention/sharded_attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "tests/attention/full_attention.h"
#include "tests/support/ranks.h"

namespace ringmaster {
namespace {

struct Heads {
    int64_t query, key;
};

struct Split {
    int ring, ulysses;

    Mesh mesh() const {
        Mesh mesh;
        mesh.ring = ring;
        mesh.ulysses = ulysses;
        return mesh;
    }
};

at::Tensor positions(const Spans& spans) {
    std::vector<at::Tensor> parts;
    for (const Span& span : spans) parts.push_back(at::arange(span.begin, span.end, span.step, at::kLong));
    return at::cat(parts);
}

struct Inputs {
    at::Tensor q, k, v, dout;  // [B, tokens, heads, D]

    Inputs of(const at::Tensor& at) const {
        auto part = [&](const at::Tensor& whole) { return whole.index_select(1, at); };
        return {part(q), part(k), part(v), part(dout)};
    }
};

Inputs random_inputs(int64_t rows, int64_t tokens, Heads heads, int64_t head_dim, at::ScalarType dtype) {
    at::manual_seed(rows * 1000 + tokens);
    auto random = [&](int64_t count) { return at::randn({rows, tokens, count, head_dim}).to(dtype); };
    return {random(heads.query), random(heads.key), random(heads.key), random(heads.query)};
}

struct Result {
    AttentionOutput output;
    AttentionGradients gradients;

    at::Tensor bits() const {
        return at::cat({output.out_bthd.flatten(), output.lse_bht.flatten(), gradients.dq_bthd.flatten(),
                        gradients.dk_btkd.flatten(), gradients.dv_btkd.flatten()});
    }
};

/// Every rank's share, by global rank.
std::vector<Result> run(const Mesh& mesh, const Layout& layout, const Inputs& inputs) {
    std::vector<Result> results(static_cast<size_t>(mesh.ranks()));
    run_ranks(mesh, [&](int rank, Groups& groups) {
        const Inputs own = inputs.of(positions(layout.ranks[static_cast<size_t>(mesh.context_rank(rank))]));
        ShardedAttention attention(groups, layout);
        Result& result = results[static_cast<size_t>(rank)];
        result.output = attention.forward(own.q, own.k, own.v);
        result.gradients = attention.backward(own.dout, own.q, own.k, own.v, result.output);
    });
    return results;
}

/// With Ulysses a rank's lse is of its own heads and of its group's tokens.
at::Tensor own_lse(const at::Tensor& lse_bht, const Layout& layout, const Split& split, int rank) {
    const int64_t heads = lse_bht.size(1) / split.ulysses;
    return lse_bht.narrow(1, rank % split.ulysses * heads, heads)
        .index_select(2, positions(ring_spans(layout, rank / split.ulysses, split.ulysses)));
}

void expect_full_attention(RingAttnFunc func, const Split& split, const Inputs& inputs, bool twice) {
    const int64_t tokens = inputs.q.size(1);
    const Layout layout = make_layout(func, tokens, split.ring, split.ulysses);
    const FullAttention truth =
        full_attention(inputs.q, inputs.k, inputs.v, inputs.dout, causal_hidden(tokens));
    const double bound = bound_of(inputs.q.scalar_type());
    const std::vector<Result> results = run(split.mesh(), layout, inputs);
    const std::vector<Result> again = twice ? run(split.mesh(), layout, inputs) : results;
    for (int rank = 0; rank < split.mesh().ranks(); ++rank) {
        const Result& own = results[static_cast<size_t>(rank)];
        const at::Tensor at = positions(layout.ranks[static_cast<size_t>(rank)]);
        auto part = [&](const at::Tensor& whole) { return whole.index_select(1, at); };
        EXPECT_LT(relative_error(own.output.out_bthd, part(truth.out_bthd)), bound);
        EXPECT_LT(relative_error(own.output.lse_bht, own_lse(truth.lse_bht, layout, split, rank)), bound);
        EXPECT_LT(relative_error(own.gradients.dq_bthd, part(truth.dq_bthd)), bound);
        EXPECT_LT(relative_error(own.gradients.dk_btkd, part(truth.dk_bskd)), bound);
        EXPECT_LT(relative_error(own.gradients.dv_btkd, part(truth.dv_bskd)), bound);
        for (const at::Tensor& x : {own.output.out_bthd, own.gradients.dq_bthd, own.gradients.dk_btkd}) {
            EXPECT_EQ(x.scalar_type(), inputs.q.scalar_type());
        }
        EXPECT_TRUE(at::equal(own.bits(), again[static_cast<size_t>(rank)].bits())) << "rank " << rank;
    }
}

using Case = std::tuple<RingAttnFunc, Split, Heads, at::ScalarType, int64_t>;

class ShardedAttentionOf : public ::testing::TestWithParam<Case> {};

/// Compared on every rank, and run twice: the same to the last bit.
TEST_P(ShardedAttentionOf, IsFullAttentionEveryTime) {
    const auto [func, split, heads, dtype, rows] = GetParam();
    expect_full_attention(func, split, random_inputs(rows, 48, heads, 16, dtype), true);
}

std::string name_of(const ::testing::TestParamInfo<Case>& tested) {
    const auto [func, split, heads, dtype, rows] = tested.param;
    return std::string(to_string(func)) + "_ring" + std::to_string(split.ring) + "_ulysses" +
           std::to_string(split.ulysses) + "_" + std::to_string(heads.query) + "heads" +
           std::to_string(heads.key) + (dtype == at::kFloat ? "_fp32" : "_bf16") + "_rows" +
           std::to_string(rows);
}

const auto kLayouts =
    ::testing::Values(RingAttnFunc::BatchRing, RingAttnFunc::BatchZigzag, RingAttnFunc::BatchStripe);

INSTANTIATE_TEST_SUITE_P(
    Ring, ShardedAttentionOf,
    ::testing::Combine(kLayouts, ::testing::Values(Split{1, 1}, Split{2, 1}, Split{3, 1}, Split{4, 1}),
                       ::testing::Values(Heads{8, 8}, Heads{8, 2}, Heads{6, 3}, Heads{8, 1}),
                       ::testing::Values(at::kFloat, at::kBFloat16), ::testing::Values(2)),
    name_of);

INSTANTIATE_TEST_SUITE_P(Ulysses, ShardedAttentionOf,
                         ::testing::Combine(kLayouts,
                                            ::testing::Values(Split{1, 2}, Split{1, 4}, Split{2, 2}),
                                            ::testing::Values(Heads{8, 8}, Heads{8, 2}, Heads{8, 1}),
                                            ::testing::Values(at::kFloat, at::kBFloat16),
                                            ::testing::Values(2)),
                         name_of);

INSTANTIATE_TEST_SUITE_P(OneRow, ShardedAttentionOf,
                         ::testing::Combine(kLayouts, ::testing::Values(Split{2, 1}, Split{1, 2}),
                                            ::testing::Values(Heads{6, 2}), ::testing::Values(at::kFloat),
                                            ::testing::Values(1)),
                         name_of);

TEST(ShardedAttention, IsExactOverManyBlocksOfScores) {
    for (const Split split : {Split{2, 1}, Split{1, 2}}) {
        expect_full_attention(RingAttnFunc::BatchZigzag, split,
                              random_inputs(1, 1200, {4, 2}, 32, at::kFloat), false);
    }
}

struct SentBytes {
    int64_t forward = 0, backward = 0;
};

std::vector<SentBytes> sent_bytes(RingAttnFunc func, const Split& split, int64_t tokens, Heads heads,
                                  int64_t head_dim, at::ScalarType dtype) {
    const Mesh mesh = split.mesh();
    const Layout layout = make_layout(func, tokens, split.ring, split.ulysses);
    const Inputs inputs = random_inputs(2, tokens, heads, head_dim, dtype);
    std::vector<SentBytes> sent(static_cast<size_t>(mesh.ranks()));
    run_ranks(mesh, [&](int rank, Groups& groups) {
        const Inputs own = inputs.of(positions(layout.ranks[static_cast<size_t>(rank)]));
        ShardedAttention attention(groups, layout);
        const AttentionOutput output = attention.forward(own.q, own.k, own.v);
        sent[static_cast<size_t>(rank)].forward = groups.take_totals().sent_bytes;
        attention.backward(own.dout, own.q, own.k, own.v, output);
        sent[static_cast<size_t>(rank)].backward = groups.take_totals().sent_bytes;
    });
    return sent;
}

/// P ranks, t tokens of each in all rows, K key/value heads, d: (P−1)·2·t·K·d elements of the inputs' dtype
/// each way, and P·2·t·K·d floats of gradients. Source: the volumes of ring p2p, as derived from
/// ring-flash-attention.
TEST(ShardedAttentionBytes, OfAZigzagRingAreTheFormula) {
    for (const auto& [dtype, size] : {std::pair{at::kFloat, 4}, std::pair{at::kBFloat16, 2}}) {
        const int64_t P = 4, t = 2 * 12, K = 2, d = 16;
        for (const SentBytes& rank : sent_bytes(RingAttnFunc::BatchZigzag, {4, 1}, 48, {8, K}, d, dtype)) {
            EXPECT_EQ(rank.forward, (P - 1) * 2 * t * K * d * size);
            EXPECT_EQ(rank.backward, (P - 1) * 2 * t * K * d * size + P * 2 * t * K * d * 4);
        }
    }
}

TEST(ShardedAttentionBytes, OfAContiguousRingStopAtTheLastReader) {
    const auto sent = sent_bytes(RingAttnFunc::BatchRing, {4, 1}, 48, {4, 2}, 16, at::kFloat);
    const int64_t block = 2 * (2 * 12) * 2 * 16 * 4;
    for (int64_t rank = 0; rank < 4; ++rank) {
        EXPECT_EQ(sent[static_cast<size_t>(rank)].forward, rank == 3 ? 0 : (rank + 1) * block);
    }
}

/// (P−1)/P · t·d·(2H + 2·max(K, P)) elements, forward and backward. Source: Jacobs et al. 2023 with grouped
/// heads.
TEST(ShardedAttentionBytes, OfUlyssesAreTheFormula) {
    const int64_t P = 4, t = 2 * 12, H = 8, K = 2, d = 16;
    for (const SentBytes& rank : sent_bytes(RingAttnFunc::BatchRing, {1, 4}, 48, {H, K}, d, at::kFloat)) {
        EXPECT_EQ(rank.forward, (P - 1) * t * d * (2 * H + 2 * P) * 4 / P);
        EXPECT_EQ(rank.backward, rank.forward);
    }
}

TEST(ShardedAttention, SaysWhichRankItsKeysDidNotComeFrom) {
    const Layout layout = make_layout(RingAttnFunc::BatchZigzag, 48, 2, 1);
    const Inputs own = random_inputs(1, 24, {4, 2}, 16, at::kFloat);
    std::string text;
    run_ranks(ring_mesh(2), [&](int rank, Groups& groups) {
        groups.world().barrier();
        if (rank == 0) return;  // leaves
        try {
            ShardedAttention(groups, layout).forward(own.q, own.k, own.v);
        } catch (const Error& error) {
            text = error.text();
        }
    });
    EXPECT_THAT(text, ::testing::StartsWith("rank 1 (ring 1): "));
    EXPECT_THAT(text, ::testing::ContainsRegex("keys and values (from|to) rank 0: "));
}

TEST(ShardedAttention, NamesTheSizesThatDivideTheHeads) {
    const Layout layout = make_layout(RingAttnFunc::BatchRing, 48, 1, 4);
    const Inputs own = random_inputs(1, 12, {14, 2}, 16, at::kFloat);
    try {
        run_ranks(Split{1, 4}.mesh(), [&](int, Groups& groups) {
            ShardedAttention(groups, layout).forward(own.q, own.k, own.v);
        });
        FAIL() << "14 heads were divided among 4 ranks";
    } catch (const Error& error) {
        EXPECT_EQ(error.where, "ulysses_size");
        EXPECT_THAT(error.hint, ::testing::HasSubstr("1, 2, 14"));
    }
}

}  // namespace
}  // namespace ringmaster
