// Compares LayerNorm and its gradients with LibTorch's operation and autograd, in double precision.
#include "engine/model/layer_norm.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace ringmaster {
namespace {

at::Tensor leaf(const at::Tensor& values) {
    return values.to(at::kDouble).detach().requires_grad_(true);
}

double worst(const at::Tensor& ours, const at::Tensor& truth) {
    return (ours.to(at::kDouble) - truth.to(at::kDouble)).abs().max().item<double>() /
           std::max(1e-3, truth.to(at::kDouble).abs().max().item<double>());
}

struct Case {
    int64_t width;
    double offset;
    bool biased;
};

class LayerNorm : public ::testing::TestWithParam<at::ScalarType> {
  protected:
    void SetUp() override { at::manual_seed(3); }
    at::Tensor random(at::IntArrayRef shape) const { return at::randn(shape).to(GetParam()); }
    double bound() const { return GetParam() == at::kFloat ? 3e-6 : GetParam() == at::kHalf ? 2.5e-3 : 2e-2; }
};

INSTANTIATE_TEST_SUITE_P(Dtypes, LayerNorm, ::testing::Values(at::kFloat, at::kBFloat16, at::kHalf),
                         [](const auto& tested) { return std::string(c10::toString(tested.param)); });

TEST_P(LayerNorm, IsLibTorchsAndItsGradientsAreAutograds) {
    for (const auto& [width, offset, biased] :
         {Case{16, 0, true}, Case{24, 1, true}, Case{100, 0, false}, Case{512, 1, false}}) {
        const int64_t all = biased ? 2 * width : width;
        const at::Tensor x = random({37, width}) + 3, parameters = random({all}), dy = random({37, width});
        const at::Tensor xd = leaf(x), pd = leaf(parameters);
        const at::Tensor bias = biased ? pd.narrow(0, width, width) : at::Tensor();
        const at::Tensor truth = at::layer_norm(xd, {width}, pd.narrow(0, 0, width) + offset, bias, 1e-5);
        truth.backward(dy.to(at::kDouble));

        at::Tensor stats;
        EXPECT_LT(worst(layer_norm(x, parameters, 1e-5, stats, offset), truth.detach()), bound());
        at::Tensor dx = random({37, width}), before = dx.clone();
        at::Tensor gradient = at::full({all}, 5.0);
        layer_norm_backward(dy, x, parameters, stats, dx, true, gradient, 1, offset);
        EXPECT_LT(worst(dx, xd.grad() + before), bound());
        EXPECT_LT(worst(gradient - 5, pd.grad()), bound() + 1e-5);
        layer_norm_backward(dy, x, parameters, stats, dx, false, gradient, 0, offset);
        EXPECT_LT(worst(dx, xd.grad()), bound());
        EXPECT_LT(worst(gradient, pd.grad()), bound());
    }
}

}  // namespace
}  // namespace ringmaster
