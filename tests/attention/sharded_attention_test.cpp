#include "engine/attention/sharded_attention.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "engine/attention/flash.h"
#include "engine/plan/layout.h"
#include "tests/support/ranks.h"

namespace ringmaster {
namespace {

struct Truth {
    at::Tensor out_bthd, lse_bht, dq_bthd, dk_btkd, dv_btkd;
};

/// Full attention by plain matrix products in double, and its gradients by the textbook formulas.
Truth full_attention(const at::Tensor& q_bthd, const at::Tensor& k_btkd, const at::Tensor& v_btkd, const at::Tensor& dout_bthd) {
    const int64_t T = q_bthd.size(1), H = q_bthd.size(2), K = k_btkd.size(2), D = q_bthd.size(3), B = q_bthd.size(0);
    auto heads_first = [](const at::Tensor& x) { return x.to(at::kDouble).transpose(1, 2); };
    const at::Tensor q = heads_first(q_bthd), dout = heads_first(dout_bthd);
    const at::Tensor k = heads_first(k_btkd).repeat_interleave(H / K, 1), v = heads_first(v_btkd).repeat_interleave(H / K, 1);
    const double scale = 1 / std::sqrt(static_cast<double>(D));
    const at::Tensor hidden = at::ones({T, T}, at::kBool).triu(1);
    const at::Tensor scores = (at::matmul(q, k.transpose(2, 3)) * scale).masked_fill(hidden, -INFINITY);
    const at::Tensor p = at::softmax(scores, 3), out = at::matmul(p, v);
    const at::Tensor dp = at::matmul(dout, v.transpose(2, 3));
    const at::Tensor ds = p * (dp - (dout * out).sum(3, true)) * scale;
    auto summed = [&](const at::Tensor& x_bhtd) { return x_bhtd.view({B, K, H / K, T, D}).sum(2).transpose(1, 2); };
    return {out.transpose(1, 2), at::logsumexp(scores, 3), at::matmul(ds, k).transpose(1, 2),
            summed(at::matmul(ds.transpose(2, 3), q)), summed(at::matmul(p.transpose(2, 3), dout))};
}

double relative(const at::Tensor& ours, const at::Tensor& truth) {
    return (ours.to(at::kDouble) - truth).abs().max().item<double>() / truth.abs().max().item<double>();
}

at::Tensor positions(const Layout& layout, int rank) {
    std::vector<at::Tensor> parts;
    for (const Span& span : layout.ranks[static_cast<size_t>(rank)]) {
        parts.push_back(at::arange(span.begin, span.end, span.step, at::kLong));
    }
    return at::cat(parts);
}

struct Heads {
    int64_t query, key;
};

using Case = std::tuple<RingAttnFunc, int, Heads, at::ScalarType>;

class Sharded : public ::testing::TestWithParam<Case> {};

TEST_P(Sharded, IsFullAttentionOnEveryRank) {
    const auto [func, ranks, heads, dtype] = GetParam();
    at::manual_seed(ranks);
    const int64_t B = 2, T = 48, D = 16;
    auto random = [&, type = dtype](int64_t count) { return at::randn({B, T, count, D}).to(type); };
    const at::Tensor q = random(heads.query), k = random(heads.key), v = random(heads.key), dout = random(heads.query);
    const Truth truth = full_attention(q, k, v, dout);
    const Layout layout = make_layout(func, T, ranks, 1);
    const double bound = dtype == at::kFloat ? 1e-5 : 4e-2;
    std::vector<at::Tensor> first_run(static_cast<size_t>(ranks));
    for (int again = 0; again < 2; ++again) {
        run_ranks(ring_mesh(ranks), [&](int rank, Groups& groups) {
            const at::Tensor own = positions(layout, rank);
            auto part = [&](const at::Tensor& whole) { return whole.index_select(1, own); };
            ShardedAttention attention(groups, layout);
            const AttentionOutput output = attention.forward(part(q), part(k), part(v));
            const AttentionGradients d = attention.backward(part(dout), part(q), part(k), part(v), output);
            EXPECT_LT(relative(output.out_bthd, part(truth.out_bthd)), bound);
            EXPECT_LT(relative(output.lse_bht, truth.lse_bht.index_select(2, own)), bound);
            EXPECT_LT(relative(d.dq_bthd, part(truth.dq_bthd)), bound);
            EXPECT_LT(relative(d.dk_btkd, part(truth.dk_btkd)), bound);
            EXPECT_LT(relative(d.dv_btkd, part(truth.dv_btkd)), bound);
            EXPECT_EQ(output.out_bthd.scalar_type(), q.scalar_type());
            EXPECT_EQ(d.dk_btkd.scalar_type(), q.scalar_type());
            const at::Tensor everything = at::cat({output.out_bthd.flatten(), d.dq_bthd.flatten(), d.dk_btkd.flatten(), d.dv_btkd.flatten()});
            at::Tensor& before = first_run[static_cast<size_t>(rank)];
            if (again == 0) {
                before = everything;
            } else {
                EXPECT_TRUE(at::equal(before, everything)) << "a run repeated is the same to the last bit";
            }
        });
    }
}

std::string name_of(const ::testing::TestParamInfo<Case>& tested) {
    const auto [func, ranks, heads, dtype] = tested.param;
    return std::string(to_string(func)) + "_" + std::to_string(ranks) + "ranks_" + std::to_string(heads.query) + "heads" +
           std::to_string(heads.key) + (dtype == at::kFloat ? "_fp32" : "_bf16");
}

INSTANTIATE_TEST_SUITE_P(Attention, Sharded,
                         ::testing::Combine(::testing::Values(RingAttnFunc::BatchRing, RingAttnFunc::BatchZigzag,
                                                              RingAttnFunc::BatchStripe),
                                            ::testing::Values(1, 2, 3, 4),
                                            ::testing::Values(Heads{8, 8}, Heads{8, 2}, Heads{6, 3}, Heads{8, 1}),
                                            ::testing::Values(at::kFloat, at::kBFloat16)),
                         name_of);

}  // namespace
}  // namespace ringmaster
