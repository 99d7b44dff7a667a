// Compares attention in blocks of scores, as a GPU computes it with LibTorch's operations, with float64 and
// with the CPU's own blocks. The operations are the same on every device, except that a GPU multiplies 16-bit
// inputs without converting them.
#include "engine/attention/score_block_attention.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <limits>
#include <tuple>

#include "engine/layout/score_blocks.h"
#include "tests/attention/slice_set_checks.h"

namespace ringmaster {
namespace {

at::Tensor tokens_first(const at::Tensor& x) {
    return x.transpose(1, 2);
}

FlashOutput finished(const SoftmaxSums& sums, at::ScalarType dtype) {
    const at::Tensor divisor = sums.total_bht.masked_fill(sums.total_bht == 0, 1).unsqueeze(3);
    return {(sums.values_bhtd / divisor).to(dtype), sums.total_bht.log() + sums.top_bht};
}

at::Tensor delta_of(const at::Tensor& dout, const FlashOutput& whole) {
    return (dout.to(at::kFloat) * whole.out_bhtd.to(at::kFloat)).sum(3);
}

/// Adds the slices in two calls, as two hops of a ring do.
Result in_two_calls(const Sequence& x, const std::vector<Slice>& slices, const ScoreRule& rule,
                    int64_t most_scores) {
    const auto middle = slices.begin() + static_cast<std::ptrdiff_t>(slices.size() / 2);
    const std::vector<Slice> calls[] = {{slices.begin(), middle}, {middle, slices.end()}};
    SoftmaxSums sums = no_keys_seen(x.q);
    for (const auto& call : calls)
        score_block_attention_forward(sums, x.q, x.k, x.v, call, rule, most_scores);
    const FlashOutput whole = finished(sums, x.q.scalar_type());
    const at::Tensor dq = no_keys_seen(x.q).values_bhtd, dk = no_keys_seen(x.k).values_bhtd,
                     dv = no_keys_seen(x.v).values_bhtd;
    for (const auto& call : calls)
        score_block_attention_backward(dq, dk, dv, x.dout, x.q, x.k, x.v, whole.lse_bht,
                                       delta_of(x.dout, whole), call, rule, most_scores);
    return {whole, {dq, dk, dv}};
}

void check(const SliceSet& set, const Shape& shape, at::ScalarType dtype, const ScoreRule& rule,
           int64_t most_scores) {
    const Sequence x(set, shape, at::TensorOptions(dtype));
    const FullAttention truth = full_attention(tokens_first(x.q), tokens_first(x.k), tokens_first(x.v),
                                               tokens_first(x.dout), hidden_by(set), rule);
    expect_equal(in_two_calls(x, set.slices, rule, most_scores), truth, bound_of(dtype), set.name);
}

SliceSet one_slice(int64_t queries, int64_t keys, SliceMask mask) {
    return {"one slice", queries, keys, {{0, queries, 0, keys, mask}}};
}

/// Returns a diagonal of triangles, a rectangle in the middle, and queries that see nothing.
SliceSet many_slices() {
    return {"many slices",
            200,
            240,
            {{0, 90, 20, 110, SliceMask::Causal},
             {0, 90, 110, 150, SliceMask::Full},
             {110, 150, 90, 130, SliceMask::InverseCausal},
             {150, 190, 170, 235, SliceMask::Full}}};
}

using Case = std::tuple<int, Shape, at::ScalarType, double, int64_t>;
class ScoreBlockAttention : public ::testing::TestWithParam<Case> {};

// A limit of 1,024 scores cuts sequences into blocks of 16 tokens and more. The other limit, kMostScores, is
// the one that GPUs use.
TEST_P(ScoreBlockAttention, IsFloat64sAttention) {
    at::set_num_threads(1);
    at::manual_seed(5);
    const auto [set, shape, dtype, softcap, most_scores] = GetParam();
    const SliceSet sets[] = {one_slice(2, 2, SliceMask::Causal),
                             one_slice(17, 17, SliceMask::Causal),
                             one_slice(130, 130, SliceMask::Causal),
                             one_slice(131, 131, SliceMask::InverseCausal),
                             one_slice(60, 150, SliceMask::Full),
                             one_slice(1, 70, SliceMask::Full),
                             many_slices()};
    check(sets[set], shape, dtype, {0.31, softcap}, most_scores);
}

INSTANTIATE_TEST_SUITE_P(Shapes, ScoreBlockAttention,
                         ::testing::Combine(::testing::Range(0, 7),
                                            ::testing::Values(Shape{2, 1}, Shape{2, 3}, Shape{1, 4, 24}),
                                            ::testing::Values(at::kFloat, at::kBFloat16),
                                            ::testing::Values(0.0, 0.7),
                                            ::testing::Values(1024, kMostScores)));

// The rows' queries, keys and values are views of one packed buffer.
TEST(ScoreBlockAttention, TakesRowsOfABatchOutOfAPackedBuffer) {
    at::manual_seed(6);
    for (const int64_t key_heads : {1, 2}) {
        const at::Tensor packed = at::randn({3, 70, 4 + 2 * key_heads, 8}).to(at::kBFloat16);
        const auto heads = [&](int64_t first, int64_t count) { return packed.narrow(2, first, count); };
        const at::Tensor q = heads(0, 4), k = heads(4, key_heads), v = heads(4 + key_heads, key_heads);
        const at::Tensor dout = at::randn({3, 70, 4, 8}).to(at::kBFloat16);
        const ScoreRule rule{0.5, 1.5};
        const FullAttention truth = full_attention(q, k, v, dout, causal_hidden(70), rule);
        Sequence x(one_slice(1, 1, SliceMask::Full), {1, 1}, at::TensorOptions(at::kFloat));
        x.q = tokens_first(q), x.k = tokens_first(k), x.v = tokens_first(v), x.dout = tokens_first(dout);
        expect_equal(in_two_calls(x, {{0, 70, 0, 70, SliceMask::Causal}}, rule, 5000), truth,
                     bound_of(at::kBFloat16), "a batch");
    }
}

/// Computes the result with the CPU kernel (block_attention.h).
Result by_own_blocks(const Sequence& x, const std::vector<Slice>& slices, const ScoreRule& rule) {
    SoftmaxSums sums = no_keys_seen(x.q);
    block_attention_forward(sums, x.q, x.k, x.v, slices, rule);
    const FlashOutput whole = finished(sums, x.q.scalar_type());
    const at::Tensor dq = no_keys_seen(x.q).values_bhtd, dk = no_keys_seen(x.k).values_bhtd,
                     dv = no_keys_seen(x.v).values_bhtd;
    block_attention_backward(dq, dk, dv, x.dout, x.q, x.k, x.v, whole.lse_bht, delta_of(x.dout, whole),
                             slices, rule);
    return {whole, {dq, dk, dv}};
}

// Covers hops of rings, gathers, documents, windows and padding. The GPU's blocks and the CPU's must give the
// same results.
TEST(ScoreBlockAttention, IsThatOfTheCpusBlocksInWholeRuns) {
    at::set_num_threads(1);
    at::manual_seed(7);
    SliceSets sets(7);
    int done = 0, seen = 0;
    for (; done < 80 && !HasFailure();) {
        for (const SliceSet& set : sets.next(512)) {
            if (seen++ % 5 != 0) continue;
            const ScoreRule rule{0.4, done % 3 == 0 ? 0 : 1.2};
            const Shape shape = done % 5 == 0 ? Shape{2, 2} : Shape{1, 1};
            const at::ScalarType dtypes[] = {at::kFloat, at::kFloat, at::kBFloat16, at::kHalf};
            const Sequence x(set, shape, at::TensorOptions(dtypes[done % 4]));
            const Result ours = in_two_calls(x, set.slices, rule, 4096),
                         theirs = by_own_blocks(x, set.slices, rule);
            const double bound = bound_of(x.q.scalar_type());
            const auto wide = [](const at::Tensor& t) { return t.to(at::kDouble); };
            expect_close(ours.whole.out_bhtd, wide(theirs.whole.out_bhtd), bound, set.name + ": out");
            EXPECT_TRUE(at::equal(ours.whole.lse_bht.isneginf(), theirs.whole.lse_bht.isneginf()))
                << set.name;
            expect_close(ours.d.dq_bhtd, wide(theirs.d.dq_bhtd), bound, set.name + ": dq");
            expect_close(ours.d.dk_bksd, wide(theirs.d.dk_bksd), bound, set.name + ": dk");
            expect_close(ours.d.dv_bksd, wide(theirs.d.dv_bksd), bound, set.name + ": dv");
            ++done;
        }
    }
}

TEST(ScoreBlockAttention, KeepsLargeScoresFiniteAndLetsNotANumberThrough) {
    at::manual_seed(8);
    const SliceSet set = one_slice(90, 90, SliceMask::InverseCausal);
    Sequence x(set, {2, 1}, at::TensorOptions(at::kFloat));
    x.q *= 300;
    for (const double softcap : {0.0, 50.0}) {
        const Result of = in_two_calls(x, set.slices, {1, softcap}, 1024);
        for (const at::Tensor& it :
             {of.whole.out_bhtd, of.whole.lse_bht, of.d.dq_bhtd, of.d.dk_bksd, of.d.dv_bksd})
            EXPECT_TRUE(at::isfinite(it).all().item<bool>()) << softcap;
    }
    x.q.select(2, 10).fill_(std::numeric_limits<float>::quiet_NaN());
    const FlashOutput whole = in_two_calls(x, set.slices, {1, 50}, 1024).whole;
    EXPECT_TRUE(at::isnan(whole.out_bhtd.select(2, 10)).all().item<bool>());
    EXPECT_TRUE(at::isfinite(whole.out_bhtd.select(2, 11)).all().item<bool>());
}

// Around 40, bfloat16 has a spacing of 1/4, so rounding a score would change a probability by an eighth.
TEST(ScoreBlockAttention, DoesNotRoundScores) {
    at::manual_seed(9);
    const SliceSet set = one_slice(64, 64, SliceMask::Full);
    Sequence x(set, {1, 1, 16}, at::TensorOptions(at::kBFloat16));
    x.q = x.q + 12, x.k = x.k + 0.2;
    const ScoreRule rule{1, 50};
    const FullAttention truth = full_attention(tokens_first(x.q), tokens_first(x.k), tokens_first(x.v),
                                               tokens_first(x.dout), hidden_by(set), rule);
    const FlashOutput whole = in_two_calls(x, set.slices, rule, 1024).whole;
    EXPECT_GT(truth.lse_bht.min().item<double>(), 30);
    EXPECT_LT(relative_error(whole.lse_bht, truth.lse_bht), 1e-5);
    EXPECT_LT(relative_error(whole.out_bhtd, truth.out_bthd.transpose(1, 2)), 6e-3);
}

}  // namespace
}  // namespace ringmaster
