#include "engine/model/ops.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "engine/kernels/fused.h"
#include "tests/model/gates.h"

namespace ringmaster {
namespace {

/// Returns a float64 leaf, because reference values come from LibTorch's operations and autograd in double
/// precision.
at::Tensor leaf(at::Tensor values) {
    return values.to(at::kDouble).detach().requires_grad_(true);
}

double worst(const at::Tensor& ours, const at::Tensor& truth) {
    return (ours.to(at::kDouble) - truth.to(at::kDouble)).abs().max().item<double>() /
           std::max(1e-3, truth.to(at::kDouble).abs().max().item<double>());
}

class Ops : public ::testing::TestWithParam<at::ScalarType> {
  protected:
    void SetUp() override { at::manual_seed(3); }
    at::Tensor random(at::IntArrayRef shape) const { return at::randn(shape).to(GetParam()); }
    double bound() const { return GetParam() == at::kFloat ? 3e-6 : GetParam() == at::kHalf ? 2.5e-3 : 2e-2; }
};

INSTANTIATE_TEST_SUITE_P(Dtypes, Ops, ::testing::Values(at::kFloat, at::kBFloat16, at::kHalf),
                         [](const auto& tested) { return std::string(c10::toString(tested.param)); });

TEST_P(Ops, RmsNormAndItsGradientsAreAutograds) {
    for (const auto& [width, offset] :
         std::vector<std::pair<int64_t, double>>{{16, 0}, {24, 1}, {100, 0}, {100, 1}, {512, 0}}) {
        at::Tensor x = random({37, width}), weight = random({width}), dy = random({37, width});
        at::Tensor xd = leaf(x), wd = leaf(weight);
        at::Tensor truth = xd * at::rsqrt(xd.square().mean(1, true) + 1e-5) * (wd + offset);
        truth.backward(dy.to(at::kDouble));

        at::Tensor rstd;
        EXPECT_LT(worst(rms_norm(x, weight, 1e-5, rstd, offset), truth.detach()), bound());
        EXPECT_LT(worst(rms_norm_again(x, weight, rstd, offset), truth.detach()), bound());
        at::Tensor dx = random({37, width}), before = dx.clone();
        at::Tensor dweight = at::full({width}, 5.0);
        rms_norm_backward(dy, x, weight, rstd, dx, true, dweight, 1, offset);
        EXPECT_LT(worst(dx, xd.grad() + before), bound());
        EXPECT_LT(worst(dweight - 5, wd.grad()), bound() + 1e-5);
        rms_norm_backward(dy, x, weight, rstd, dx, false, dweight, 0, offset);
        EXPECT_LT(worst(dx, xd.grad()), bound());
        EXPECT_LT(worst(dweight, wd.grad()), bound());
    }
}

TEST_P(Ops, RotationTurnsByThePositionAndBackAgain) {
    const int64_t heads = 3, others = 2, dim = 16, period = 7, rows = 14;
    at::Tensor angle = at::randn({period, dim / 2});
    at::Tensor cos = angle.cos().contiguous(), sin = angle.sin().contiguous();
    at::Tensor x = random({rows, (heads + others) * dim});
    at::Tensor original = x.clone();
    rotate(x, cos, sin, heads, dim, false);

    at::Tensor full_cos = at::cat({cos, cos}, 1).repeat({2, 1}).unsqueeze(1),
               full_sin = at::cat({sin, sin}, 1).repeat({2, 1}).unsqueeze(1);
    at::Tensor q = original.narrow(1, 0, heads * dim).view({rows, heads, dim}).to(at::kDouble);
    at::Tensor half_turned = at::cat({-q.narrow(2, dim / 2, dim / 2), q.narrow(2, 0, dim / 2)}, 2);
    at::Tensor truth = q * full_cos + half_turned * full_sin;
    EXPECT_LT(worst(x.narrow(1, 0, heads * dim).view({rows, heads, dim}), truth), bound());
    EXPECT_TRUE(
        at::equal(x.narrow(1, heads * dim, others * dim), original.narrow(1, heads * dim, others * dim)));
    rotate(x, cos, sin, heads, dim, true);
    EXPECT_LT(worst(x, original), 2 * bound());
}

// Multiplying a complex number by e^(i·angle) rotates it by the angle; a pair is the number's two parts.
TEST_P(Ops, RotationTurnsSomePairsOfAHeadInEitherOrder) {
    const int64_t heads = 3, dim = 16, rows = 14;
    for (const auto& [pairs, interleaved] :
         std::vector<std::pair<int64_t, bool>>{{4, false}, {6, false}, {4, true}, {8, true}}) {
        const at::Tensor angle = at::randn({rows, pairs});
        const at::Tensor cos = angle.cos().contiguous(), sin = angle.sin().contiguous();
        at::Tensor x = random({rows, heads * dim});
        const at::Tensor original = x.clone();
        const at::Tensor head = original.view({rows, heads, dim}).to(at::kDouble);
        const at::Tensor turned = head.narrow(2, 0, 2 * pairs);
        const at::Tensor numbers =
            (interleaved ? turned.unflatten(2, {pairs, 2}) : turned.unflatten(2, {2, pairs}).transpose(2, 3));
        const at::Tensor by =
            at::polar(at::ones({rows, 1, pairs}, at::kDouble), angle.to(at::kDouble).unsqueeze(1));
        const at::Tensor product = at::view_as_real(at::view_as_complex(numbers.contiguous()) * by);
        const at::Tensor truth = at::cat({(interleaved ? product : product.transpose(2, 3)).flatten(2),
                                          head.narrow(2, 2 * pairs, dim - 2 * pairs)},
                                         2);
        rotate(x, cos, sin, heads, dim, false, interleaved);
        EXPECT_LT(worst(x.view({rows, heads, dim}), truth), bound()) << pairs << interleaved;
        rotate(x, cos, sin, heads, dim, true, interleaved);
        EXPECT_LT(worst(x, original), 2 * bound());
    }
}

TEST_P(Ops, EveryActivationAndItsGradientAreAutograds) {
    for (const auto& [width, rule] : gate_cases()) {
        at::Tensor gate_up = random({21, (rule.gated ? 2 : 1) * width}) * 3, dact = random({21, width});
        at::Tensor leaf_gu = leaf(gate_up);
        at::Tensor truth = gate_by_autograd(leaf_gu, rule);
        truth.backward(dact.to(at::kDouble));
        EXPECT_LT(worst(gate(gate_up, rule), truth.detach()), bound());
        at::Tensor turned = gate_up.clone();
        EXPECT_LT(worst(gate_backward(turned, dact, rule), truth.detach()), bound());
        EXPECT_LT(worst(turned, leaf_gu.grad()), bound());
        at::Tensor in_place = gate_up.clone();
        const void* memory = dact.data_ptr();
        const at::Tensor act = gate_backward(in_place, dact, rule, dact);
        EXPECT_EQ(act.data_ptr(), memory);
        EXPECT_LT(worst(act, truth.detach()), bound());
        EXPECT_TRUE(at::equal(in_place, turned));
    }
}

TEST_P(Ops, CrossEntropyAndItsGradientAreAutograds) {
    at::Tensor logits = random({19, 301}) * 4;
    at::Tensor labels = at::randint(0, 301, {19}, at::kLong);
    at::Tensor logits_leaf = leaf(logits);
    at::Tensor truth = -at::log_softmax(logits_leaf, 1).gather(1, labels.unsqueeze(1)).sum();
    truth.backward(at::full({}, 0.25, at::kDouble));
    at::Tensor kept = logits.clone();
    EXPECT_NEAR(cross_entropy(kept, labels, std::nullopt).sum().item<double>(), truth.item<double>(),
                1e-5 * truth.item<double>());
    EXPECT_TRUE(at::equal(kept, logits)) << "without a scale the logits stay";
    cross_entropy(logits, labels, 0.25);
    EXPECT_LT(worst(logits, logits_leaf.grad()), bound());
}

TEST_P(Ops, EmbeddingGradientAddsRowsOfTheSameToken) {
    at::Tensor ids = at::tensor({4, 1, 4, 4, 0}, at::kLong);
    at::Tensor dx = random({5, 130});
    at::Tensor gradient = at::ones({6, 130});
    at::Tensor truth = at::ones({6, 130}, at::kDouble).index_add(0, ids, dx.to(at::kDouble));
    accumulate_embedding_gradient(gradient, ids, dx);
    EXPECT_LT(worst(gradient, truth), bound());
}

TEST_P(Ops, WeightAndBiasGradientsTakeEveryRowOfALongOne) {
    const at::Tensor dy = random({5001, 6}), x = random({5001, 8});
    at::Tensor dweight = at::full({6, 8}, 5.0), dbias = at::full({6}, 5.0);
    accumulate_weight_gradient(dweight, dy, x, 1);
    accumulate_bias_gradient(dbias, dy, 1);
    EXPECT_LT(worst(dweight - 5, at::mm(dy.to(at::kDouble).t(), x.to(at::kDouble))), bound() + 1e-5);
    EXPECT_LT(worst(dbias - 5, dy.to(at::kDouble).sum(0)), bound() + 1e-5);
}

/// LibTorch's x.mul_(factor) rounds the factor to bfloat16 on a CPU.
TEST(ScaleInPlace, TakesFactorsThatTheDtypeCannotHold) {
    const at::Tensor x = at::arange(1, 257).to(at::kBFloat16);
    for (const double factor : {1 / 1.7, 0.246, 1 / std::sqrt(64.0), 5.6568542494923806}) {
        const at::Tensor expected = x.to(at::kDouble).mul(factor).to(at::kBFloat16), y = x.clone();
        EXPECT_TRUE(scale_in_place(y, factor).equal(expected)) << factor;
        EXPECT_TRUE(y.equal(expected)) << "in place";
    }
    EXPECT_EQ(rounded_to(at::kBFloat16, 39.19183588), 39.25);
    EXPECT_EQ(rounded_to(at::kFloat, 0.5), 0.5);
}

TEST(FusedKernels, NanAndInfinityReachTheResult) {
    const float nan = std::numeric_limits<float>::quiet_NaN(),
                infinity = std::numeric_limits<float>::infinity();
    for (float bad : {nan, infinity, -infinity}) {
        at::Tensor x = at::ones({3, 40});
        x[1][17] = bad;
        at::Tensor rstd;
        EXPECT_FALSE(at::isfinite(rms_norm(x, at::ones({40}), 1e-5, rstd)[1]).all().item<bool>());
        at::Tensor labels = at::zeros({3}, at::kLong);
        if (bad != -infinity) {
            EXPECT_FALSE(at::isfinite(cross_entropy(x.clone(), labels, 1.0)).all().item<bool>());
        }
        at::Tensor gate_up = at::ones({1, 40});
        gate_up[0][30] = bad;
        EXPECT_FALSE(at::isfinite(gate(gate_up)).all().item<bool>());
    }
}

}  // namespace
}  // namespace ringmaster
