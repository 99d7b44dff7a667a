#include "engine/attention/block_attention.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <tuple>

#include "engine/attention/partial_attention.h"
#include "tests/attention/full_attention.h"

namespace ringmaster {
namespace {

struct Heads {
    int64_t query, key;
};

at::Tensor heads_first(const at::Tensor& x) {
    return x.transpose(1, 2);
}

struct Inputs {
    at::Tensor q, k, v, dout;  // the tokens' dimension comes first
};

Inputs random_inputs(int64_t queries, int64_t keys, Heads heads, at::ScalarType dtype) {
    constexpr int64_t kRows = 2, kHeadDim = 32;
    at::manual_seed(queries + 7 * keys);
    auto random = [&](int64_t tokens, int64_t count) {
        return at::randn({kRows, tokens, count, kHeadDim}).to(dtype);
    };
    return {random(queries, heads.query), random(keys, heads.key), random(keys, heads.key),
            random(queries, heads.query)};
}

struct Gradients {
    at::Tensor dq_bhtd, dk_bksd, dv_bksd;
};

std::vector<Slice> slice_of(const Inputs& in, SliceMask mask) {
    return {{0, in.q.size(1), 0, in.k.size(1), mask}};
}

KeyHeads all_heads(const Inputs& in) {
    return {0, in.k.size(2), in.q.size(2) / in.k.size(2)};
}

FlashOutput forward(const Inputs& in, const std::vector<Slice>& slices, const ScoreRule& rule = {}) {
    PartialAttention attention(heads_first(in.q), rule);
    attention.add(heads_first(in.k), heads_first(in.v), all_heads(in), slices);
    return attention.finish();
}

Gradients backward(const Inputs& in, const FlashOutput& whole, const std::vector<Slice>& slices,
                   const ScoreRule& rule = {}) {
    PartialGradients sums(heads_first(in.dout), heads_first(in.q), whole, rule);
    const at::Tensor dk = at::zeros(in.k.sizes()), dv = at::zeros(in.v.sizes());
    KeyGradients d{heads_first(dk), heads_first(dv)};
    sums.add(heads_first(in.k), heads_first(in.v), all_heads(in), slices, d);
    return {sums.finish(), heads_first(dk), heads_first(dv)};
}

at::Tensor hidden_by(SliceMask mask, int64_t queries, int64_t keys) {
    if (mask == SliceMask::Full) return nothing_hidden(queries, keys);
    return mask == SliceMask::Causal ? causal_hidden(queries) : causal_hidden(queries).t();
}

using Case = std::tuple<std::tuple<int64_t, int64_t, SliceMask>, Heads, at::ScalarType, int>;

class BlockAttention : public ::testing::TestWithParam<Case> {};

/// The lengths lie around the block sizes. With more threads than key/value heads, several threads share a
/// head.
TEST_P(BlockAttention, IsFullAttention) {
    const auto [lengths, heads, dtype, threads] = GetParam();
    at::set_num_threads(threads);
    const auto [queries, keys, mask] = lengths;
    const Inputs in = random_inputs(queries, keys, heads, dtype);
    const FullAttention truth = full_attention(in.q, in.k, in.v, in.dout, hidden_by(mask, queries, keys));
    const FlashOutput whole = forward(in, slice_of(in, mask));
    const Gradients d = backward(in, whole, slice_of(in, mask));
    const double bound = bound_of(dtype);
    EXPECT_LT(relative_error(heads_first(whole.out_bhtd), truth.out_bthd), bound);
    EXPECT_LT(relative_error(whole.lse_bht, truth.lse_bht), bound);
    EXPECT_LT(relative_error(heads_first(d.dq_bhtd), truth.dq_bthd), bound);
    EXPECT_LT(relative_error(heads_first(d.dk_bksd), truth.dk_bskd), bound);
    EXPECT_LT(relative_error(heads_first(d.dv_bksd), truth.dv_bskd), bound);
}

INSTANTIATE_TEST_SUITE_P(Shapes, BlockAttention,
                         ::testing::Combine(::testing::Values(std::tuple{2, 2, SliceMask::Causal},
                                                              std::tuple{17, 17, SliceMask::InverseCausal},
                                                              std::tuple{255, 255, SliceMask::Causal},
                                                              std::tuple{513, 513, SliceMask::Causal},
                                                              std::tuple{700, 700, SliceMask::Causal},
                                                              std::tuple{700, 700, SliceMask::InverseCausal},
                                                              std::tuple{300, 700, SliceMask::Full},
                                                              std::tuple{513, 3, SliceMask::Full},
                                                              std::tuple{1, 300, SliceMask::Full}),
                                            ::testing::Values(Heads{4, 4}, Heads{6, 2}, Heads{4, 1}),
                                            ::testing::Values(at::kFloat, at::kBFloat16, at::kHalf),
                                            ::testing::Values(1, 5)));

at::Tensor leaf(const at::Tensor& x) {
    return x.to(at::kDouble).set_requires_grad(true);
}

// The expected output is softmax(c · tanh(s · q · k / c)) · v, with gradients by autograd in float64, over
// several blocks of keys.
TEST(BlockAttentionRule, ScalesAndCapsScoresAsAutogradDoes) {
    at::set_num_threads(2);
    constexpr int64_t kTokens = 700;
    const std::vector<ScoreRule> rules = {{0.31, 0}, {0.31, 2}, {0, 0.5}};
    for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
        for (const ScoreRule& rule : rules) {
            const Inputs in = random_inputs(kTokens, kTokens, {4, 2}, dtype);
            const at::Tensor q = leaf(in.q), k = leaf(in.k), v = leaf(in.v);
            const auto keys = [](const at::Tensor& x) { return heads_first(x).repeat_interleave(2, 1); };
            at::Tensor scores = at::matmul(heads_first(q), keys(k).transpose(2, 3)) *
                                (rule.scale != 0 ? rule.scale : 1 / std::sqrt(32.0));
            if (rule.softcap != 0) scores = rule.softcap * at::tanh(scores / rule.softcap);
            scores = scores.masked_fill(causal_hidden(kTokens), -std::numeric_limits<double>::infinity());
            const at::Tensor out = at::matmul(at::softmax(scores, 3), keys(v)).transpose(1, 2);
            out.backward(in.dout.to(at::kDouble));
            const FlashOutput whole = forward(in, slice_of(in, SliceMask::Causal), rule);
            const Gradients d = backward(in, whole, slice_of(in, SliceMask::Causal), rule);
            const double bound = bound_of(dtype);
            EXPECT_LT(relative_error(heads_first(whole.out_bhtd), out.detach()), bound);
            EXPECT_LT(relative_error(heads_first(d.dq_bhtd), q.grad()), bound) << rule.softcap;
            EXPECT_LT(relative_error(heads_first(d.dk_bksd), k.grad()), bound) << rule.softcap;
            EXPECT_LT(relative_error(heads_first(d.dv_bksd), v.grad()), bound) << rule.softcap;
        }
    }
}

TEST(BlockAttentionBackward, OfABlockOfKeysIsItsPartOfTheWhole) {
    at::set_num_threads(1);
    for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
        const Inputs in = random_inputs(400, 600, {6, 3}, dtype);
        const FlashOutput whole = forward(in, slice_of(in, SliceMask::Full));
        const FullAttention truth = full_attention(in.q, in.k, in.v, in.dout, nothing_hidden(400, 600));
        at::Tensor dq = at::zeros({2, 400, 6, 32});
        for (const auto& [begin, count] : {std::pair{0, 270}, std::pair{270, 330}}) {
            Inputs part = in;
            part.k = in.k.narrow(1, begin, count);
            part.v = in.v.narrow(1, begin, count);
            const Gradients d = backward(part, whole, slice_of(part, SliceMask::Full));
            dq += heads_first(d.dq_bhtd);
            EXPECT_LT(relative_error(heads_first(d.dk_bksd), truth.dk_bskd.narrow(1, begin, count)),
                      bound_of(dtype));
            EXPECT_LT(relative_error(heads_first(d.dv_bksd), truth.dv_bskd.narrow(1, begin, count)),
                      bound_of(dtype));
        }
        EXPECT_LT(relative_error(dq, truth.dq_bthd), bound_of(dtype));
    }
}

/// The mask is a diagonal of triangles, a rectangle of keys in the middle, and rows that see nothing.
TEST(BlockAttention, OfManySlicesInOneCallIsThatOfTheirMask) {
    const std::vector<Slice> slices = {{0, 300, 100, 400, SliceMask::Causal},
                                       {0, 300, 400, 450, SliceMask::Full},
                                       {310, 350, 90, 130, SliceMask::InverseCausal},
                                       {250, 310, 460, 590, SliceMask::Full}};
    for (const auto& [heads, threads] : {std::pair{Heads{6, 3}, 1}, std::pair{Heads{4, 1}, 8}}) {
        at::set_num_threads(threads);
        const Inputs in = random_inputs(400, 600, heads, at::kFloat);
        at::Tensor hidden = at::ones({400, 600}, at::kBool);
        for (const Slice& slice : slices) {
            const int64_t queries = slice.query_end - slice.query_begin,
                          keys = slice.key_end - slice.key_begin;
            hidden.narrow(0, slice.query_begin, queries)
                .narrow(1, slice.key_begin, keys)
                .copy_(hidden_by(slice.mask, queries, keys));
        }
        const FullAttention truth = full_attention(in.q, in.k, in.v, in.dout, hidden);
        const FlashOutput whole = forward(in, slices);
        const Gradients d = backward(in, whole, slices);
        EXPECT_LT(relative_error(heads_first(whole.out_bhtd), truth.out_bthd), 1e-5);
        EXPECT_TRUE(at::equal(whole.lse_bht.isneginf(), truth.lse_bht.isneginf()));
        EXPECT_LT(relative_error(heads_first(d.dq_bhtd), truth.dq_bthd), 1e-5);
        EXPECT_LT(relative_error(heads_first(d.dk_bksd), truth.dk_bskd), 1e-5);
        EXPECT_LT(relative_error(heads_first(d.dv_bksd), truth.dv_bskd), 1e-5);
        EXPECT_TRUE(at::equal(whole.out_bhtd, forward(in, slices).out_bhtd));
        EXPECT_TRUE(at::equal(d.dk_bksd, backward(in, whole, slices).dk_bksd));
    }
}

TEST(BlockAttention, OfOneKeyIsItsValueAndPullsNowhere) {
    at::set_num_threads(1);
    const Inputs in = random_inputs(300, 1, {4, 2}, at::kFloat);
    const FlashOutput whole = forward(in, slice_of(in, SliceMask::Full));
    const Gradients d = backward(in, whole, slice_of(in, SliceMask::Full));
    const at::Tensor values = in.v.repeat_interleave(2, 2).expand({2, 300, 4, 32});
    EXPECT_TRUE(at::allclose(heads_first(whole.out_bhtd), values));
    EXPECT_LT(d.dq_bhtd.abs().max().item<float>(), 1e-4);
    EXPECT_LT(d.dk_bksd.abs().max().item<float>(), 1e-3);
}

TEST(BlockAttention, TakesHeadsOutOfAPackedBuffer) {
    at::set_num_threads(1);
    const at::Tensor packed = at::randn({2, 300, 4 + 2 + 2, 32});
    const Inputs views{packed.narrow(2, 0, 4), packed.narrow(2, 4, 2), packed.narrow(2, 6, 2),
                       at::randn({2, 300, 4, 32})};
    const Inputs copies{views.q.contiguous(), views.k.contiguous(), views.v.contiguous(), views.dout};
    const std::vector<Slice> causal = slice_of(views, SliceMask::Causal);
    const FlashOutput of_views = forward(views, causal), of_copies = forward(copies, causal);
    EXPECT_TRUE(at::equal(of_views.out_bhtd, of_copies.out_bhtd));
    EXPECT_TRUE(
        at::equal(backward(views, of_views, causal).dk_bksd, backward(copies, of_copies, causal).dk_bksd));
}

TEST(BlockAttention, KeepsLargeScoresFinite) {
    at::set_num_threads(1);
    Inputs in = random_inputs(300, 300, {2, 2}, at::kFloat);
    in.q *= 60;
    in.k *= 60;
    const FlashOutput whole = forward(in, slice_of(in, SliceMask::Causal));
    const Gradients d = backward(in, whole, slice_of(in, SliceMask::Causal));
    for (const at::Tensor& x : {whole.out_bhtd, whole.lse_bht, d.dq_bhtd, d.dk_bksd, d.dv_bksd}) {
        EXPECT_TRUE(at::isfinite(x).all().item<bool>());
    }
}

TEST(BlockAttention, LetsNotANumberThrough) {
    at::set_num_threads(1);
    Inputs in = random_inputs(300, 300, {2, 2}, at::kFloat);
    in.q.select(1, 10).fill_(NAN);
    const FlashOutput whole = forward(in, slice_of(in, SliceMask::Causal));
    EXPECT_TRUE(at::isnan(whole.out_bhtd.select(2, 10)).all().item<bool>());
    EXPECT_TRUE(at::isfinite(whole.out_bhtd.select(2, 11)).all().item<bool>());
}

}  // namespace
}  // namespace ringmaster
