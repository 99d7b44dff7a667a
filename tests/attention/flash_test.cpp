#include "engine/attention/flash.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <tuple>

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
    at::Tensor q, k, v, dout;  // tokens first
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

FlashOutput forward(const Inputs& in, bool causal) {
    return flash_forward(heads_first(in.q), heads_first(in.k), heads_first(in.v), causal);
}

FlashGradients backward(const Inputs& in, const FlashOutput& whole, bool causal) {
    return flash_backward(heads_first(in.dout), heads_first(in.q), heads_first(in.k), heads_first(in.v),
                          whole, causal);
}

using Case = std::tuple<std::pair<int64_t, int64_t>, Heads, at::ScalarType, int>;

class Flash : public ::testing::TestWithParam<Case> {};

/// Lengths around the kernels' block sizes; with more threads than key/value heads LibTorch's kernel takes
/// over.
TEST_P(Flash, IsFullAttention) {
    const auto [lengths, heads, dtype, threads] = GetParam();
    at::set_num_threads(threads);
    const auto [queries, keys] = lengths;
    const bool causal = queries == keys;
    const Inputs in = random_inputs(queries, keys, heads, dtype);
    const FullAttention truth = full_attention(
        in.q, in.k, in.v, in.dout, causal ? causal_hidden(queries) : nothing_hidden(queries, keys));
    const FlashOutput whole = forward(in, causal);
    const FlashGradients d = backward(in, whole, causal);
    const double bound = bound_of(dtype);
    EXPECT_LT(relative_error(heads_first(whole.out_bhtd), truth.out_bthd), bound);
    EXPECT_LT(relative_error(whole.lse_bht, truth.lse_bht), bound);
    EXPECT_LT(relative_error(heads_first(d.dq_bhtd), truth.dq_bthd), bound);
    EXPECT_LT(relative_error(heads_first(d.dk_bksd), truth.dk_bskd), bound);
    EXPECT_LT(relative_error(heads_first(d.dv_bksd), truth.dv_bskd), bound);
}

INSTANTIATE_TEST_SUITE_P(Shapes, Flash,
                         ::testing::Combine(::testing::Values(std::pair{2, 2}, std::pair{17, 17},
                                                              std::pair{255, 255}, std::pair{513, 513},
                                                              std::pair{700, 700}, std::pair{300, 700},
                                                              std::pair{513, 3}, std::pair{1, 300}),
                                            ::testing::Values(Heads{4, 4}, Heads{6, 2}, Heads{4, 1}),
                                            ::testing::Values(at::kFloat, at::kBFloat16),
                                            ::testing::Values(1, 3)));

TEST(FlashBackward, OfABlockOfKeysIsItsPartOfTheWhole) {
    at::set_num_threads(1);
    for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
        const Inputs in = random_inputs(400, 600, {6, 3}, dtype);
        const FlashOutput whole = forward(in, false);
        const FullAttention truth = full_attention(in.q, in.k, in.v, in.dout, nothing_hidden(400, 600));
        at::Tensor dq = at::zeros({2, 400, 6, 32});
        for (const auto& [begin, count] : {std::pair{0, 270}, std::pair{270, 330}}) {
            Inputs part = in;
            part.k = in.k.narrow(1, begin, count);
            part.v = in.v.narrow(1, begin, count);
            const FlashGradients d = backward(part, whole, false);
            dq += heads_first(d.dq_bhtd);
            EXPECT_LT(relative_error(heads_first(d.dk_bksd), truth.dk_bskd.narrow(1, begin, count)),
                      bound_of(dtype));
            EXPECT_LT(relative_error(heads_first(d.dv_bksd), truth.dv_bskd.narrow(1, begin, count)),
                      bound_of(dtype));
        }
        EXPECT_LT(relative_error(dq, truth.dq_bthd), bound_of(dtype));
    }
}

TEST(Flash, OfOneKeyIsItsValueAndPullsNowhere) {
    at::set_num_threads(1);
    const Inputs in = random_inputs(300, 1, {4, 2}, at::kFloat);
    const FlashOutput whole = forward(in, false);
    const FlashGradients d = backward(in, whole, false);
    const at::Tensor values = in.v.repeat_interleave(2, 2).expand({2, 300, 4, 32});
    EXPECT_TRUE(at::allclose(heads_first(whole.out_bhtd), values));
    EXPECT_LT(d.dq_bhtd.abs().max().item<float>(), 1e-4);
    EXPECT_LT(d.dk_bksd.abs().max().item<float>(), 1e-3);
}

TEST(Flash, TakesHeadsOutOfAPackedBuffer) {
    at::set_num_threads(1);
    const at::Tensor packed = at::randn({2, 300, 4 + 2 + 2, 32});
    const Inputs views{packed.narrow(2, 0, 4), packed.narrow(2, 4, 2), packed.narrow(2, 6, 2),
                       at::randn({2, 300, 4, 32})};
    const Inputs copies{views.q.contiguous(), views.k.contiguous(), views.v.contiguous(), views.dout};
    const FlashOutput of_views = forward(views, true), of_copies = forward(copies, true);
    EXPECT_TRUE(at::equal(of_views.out_bhtd, of_copies.out_bhtd));
    EXPECT_TRUE(
        at::equal(backward(views, of_views, true).dk_bksd, backward(copies, of_copies, true).dk_bksd));
}

TEST(Flash, KeepsLargeScoresFinite) {
    at::set_num_threads(1);
    Inputs in = random_inputs(300, 300, {2, 2}, at::kFloat);
    in.q *= 60;
    in.k *= 60;
    const FlashOutput whole = forward(in, true);
    const FlashGradients d = backward(in, whole, true);
    for (const at::Tensor& x : {whole.out_bhtd, whole.lse_bht, d.dq_bhtd, d.dk_bksd, d.dv_bksd}) {
        EXPECT_TRUE(at::isfinite(x).all().item<bool>());
    }
}

TEST(Flash, LetsNotANumberThrough) {
    at::set_num_threads(1);
    Inputs in = random_inputs(300, 300, {2, 2}, at::kFloat);
    in.q.select(1, 10).fill_(NAN);
    const FlashOutput whole = forward(in, true);
    EXPECT_TRUE(at::isnan(whole.out_bhtd.select(2, 10)).all().item<bool>());
    EXPECT_TRUE(at::isfinite(whole.out_bhtd.select(2, 11)).all().item<bool>());
}

}  // namespace
}  // namespace ringmaster
