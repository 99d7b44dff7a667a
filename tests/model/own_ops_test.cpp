// Compares our CUDA kernels and their plain LibTorch twins with autograd in float64. The kernels' arithmetic
// runs on the CPU with threads as lanes and, under the label gpu, on a device.
#include "engine/model/own_ops.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <limits>

#include "engine/comm/backends.h"
#include "engine/model/plain_ops.h"
#include "tests/model/gates.h"
#include "tests/support/gpu.h"
#include "tests/support/rows_on_host.h"

namespace ringmaster {
namespace {

constexpr double kEps = 1e-5;

double worst(const at::Tensor& ours, const at::Tensor& truth) {
    const at::Tensor a = ours.cpu().to(at::kDouble), b = truth.cpu().to(at::kDouble);
    return (a - b).abs().max().item<double>() / std::max(1e-3, b.abs().max().item<double>());
}

at::Tensor leaf(const at::Tensor& values) {
    return values.cpu().to(at::kDouble).detach().requires_grad_(true);
}

struct Way {
    at::ScalarType dtype;
    at::Device device;
    int lanes;  ///< number of lanes on the CPU, or kAsLaunched
};

/// Compares the twin's results with those of the kernel, each on copies of the same inputs.
class Proof {
  public:
    explicit Proof(const Way& way) : way_(way) {
        at::manual_seed(3);
        if (way.device.is_cuda()) {
            load_cuda(way.device.index());
            run_ = rows_on(way.device);
        } else {
            run_ = [lanes = way.lanes](const RowKernel& kernel) { run_rows_on_host(kernel, lanes); };
        }
    }

    const RunRows& run() const { return run_; }
    at::Tensor random(at::IntArrayRef shape) const { return at::randn(shape).to(way_.dtype).to(way_.device); }
    at::Tensor floats(at::IntArrayRef shape) const { return at::randn(shape).to(way_.device); }
    /// Returns the bound on the error. A single lane adds the numbers of a row one after the
    /// other, which accumulates more rounding errors.
    double bound() const {
        if (way_.dtype == at::kHalf) return 2.5e-3;
        return way_.dtype != at::kFloat ? 2e-2 : way_.lanes == 1 ? 2e-5 : 4e-6;
    }
    void expect(const char* what, const at::Tensor& ours, const at::Tensor& twin,
                const at::Tensor& truth) const {
        EXPECT_EQ(ours.scalar_type(), twin.scalar_type()) << what;
        EXPECT_LT(worst(ours, truth), bound()) << "kernel: " << what;
        EXPECT_LT(worst(twin, truth), bound()) << "twin: " << what;
    }

    /// Tests RMSNorm, or LayerNorm with biases if `centred`.
    void norm(bool centred) const {
        for (const int64_t width : kEdgeSizes) {
            const at::Tensor wide = random({9, width + 8}), x = wide.narrow(1, 4, width);  // row stride
            const int64_t parameters = centred ? 2 * width : width;
            const at::Tensor p = random({parameters}), dy = random({9, width}), before = random({9, width});
            const at::Tensor xd = leaf(x), pd = leaf(p);
            const double offset = width % 2 == 0 ? 0 : 1;
            const at::Tensor from_mean = centred ? xd - xd.mean(1, true) : xd;
            at::Tensor truth = from_mean * at::rsqrt(from_mean.square().mean(1, true) + kEps) *
                               (pd.narrow(0, 0, width) + offset);
            if (centred) truth = truth + pd.narrow(0, width, width);
            truth.backward(dy.cpu().to(at::kDouble));

            const auto ours = centred ? own::layer_norm : own::rms_norm;
            const auto twin = centred ? plain::layer_norm : plain::rms_norm;
            const auto twin_backward = centred ? plain::layer_norm_backward : plain::rms_norm_backward;
            at::Tensor stats, twin_stats;
            const at::Tensor y = ours(run_, x, p, kEps, stats, offset);
            expect("norm", y, twin(x, p, kEps, twin_stats, offset), truth.detach());
            EXPECT_LT(worst(stats, twin_stats), 1e-5);
            EXPECT_TRUE(at::equal(own::norm_again(run_, x, p, stats, offset), y));

            at::Tensor dx = before.clone(), twin_dx = before.clone();
            at::Tensor dp = at::full_like(floats({parameters}), 5), twin_dp = dp.clone();
            own::norm_backward(run_, dy, x, p, stats, dx, true, dp, 1, offset);
            twin_backward(dy, x, p, stats, twin_dx, true, twin_dp, 1, offset);
            expect("dx added", dx, twin_dx, xd.grad() + before.cpu());
            expect("dparameters added", dp - 5, twin_dp - 5, pd.grad());
            own::norm_backward(run_, dy, x, p, stats, dx, false, dp, 0, offset);
            twin_backward(dy, x, p, stats, twin_dx, false, twin_dp, 0, offset);
            expect("dx", dx + before, twin_dx + before,
                   xd.grad() + before.cpu());  // dx is added to `before`, because the gradient of a single
                                               // element is almost 0
            expect("dparameters", dp, twin_dp, pd.grad());
            own::norm_backward(run_, dy, x, p, stats, dx, false, at::Tensor(), 0,
                               offset);  // frozen parameters
        }
    }

    void rms_norm() const {
        norm(false);
        at::Tensor rstd;
        const at::Tensor x = random({9, 33}), weight = random({33});
        const at::Tensor y = plain::rms_norm(x, weight, kEps, rstd, 0);
        EXPECT_LT(worst(own::norm_again(run_, x, weight, rstd, 0), y), bound());
        EXPECT_TRUE(at::equal(plain::rms_norm_again(x, weight, rstd, 0), y));
    }

    /// Uses more tokens than one chunk of the weight gradient's sum takes.
    void weight_gradient_of_many_tokens() const {
        const int64_t tokens = 140, width = 20;
        const at::Tensor x = random({tokens, width}), weight = random({width}), dy = random({tokens, width});
        at::Tensor rstd;
        plain::rms_norm(x, weight, kEps, rstd, 0);
        at::Tensor dx = at::empty_like(x), dw = floats({width});
        own::norm_backward(run_, dy, x, weight, rstd, dx, false, dw, 0);
        const auto wide = [](const at::Tensor& t) { return t.cpu().to(at::kDouble); };
        EXPECT_LT(worst(dw, (wide(dy) * wide(x) * wide(rstd).unsqueeze(1)).sum(0)), bound());
    }

    void rope() const {
        for (const int64_t half : kEdgeSizes) rope(2 * half);
        for (const bool interleaved : {false, true}) {
            for (const int64_t pairs : {4, 6}) some_pairs(pairs, interleaved);
        }
    }
    void some_pairs(int64_t pairs, bool interleaved) const {
        const int64_t heads = 3, dim = 16, rows = 14;
        const at::Tensor angle = at::randn({rows, pairs});
        const at::Tensor cos = angle.cos().to(way_.device), sin = angle.sin().to(way_.device);
        const at::Tensor original = random({rows, heads * dim});
        at::Tensor ours = original.clone(), twin = original.clone();
        own::rotate(run_, ours, cos, sin, heads, dim, false, interleaved);
        plain::rotate(twin, cos, sin, heads, dim, false, interleaved);
        EXPECT_LT(worst(ours, twin), bound());
        EXPECT_GT(worst(ours, original), 0.1);
        own::rotate(run_, ours, cos, sin, heads, dim, true, interleaved);
        plain::rotate(twin, cos, sin, heads, dim, true, interleaved);
        EXPECT_LT(worst(ours, original), 2 * bound());
        EXPECT_LT(worst(twin, original), 2 * bound());
    }
    void rope(int64_t dim) const {
        const int64_t heads = 3, others = 2, period = 7, rows = 14;
        const at::Tensor angle = at::randn({period, dim / 2});
        const at::Tensor cos = angle.cos().to(way_.device), sin = angle.sin().to(way_.device);
        const at::Tensor original = random({rows, (heads + others) * dim});
        const at::Tensor q =
            original.cpu().narrow(1, 0, heads * dim).view({rows, heads, dim}).to(at::kDouble);
        const auto twice = [](const at::Tensor& t) {
            return at::cat({t, t}, 1).repeat({2, 1}).unsqueeze(1).cpu().to(at::kDouble);
        };
        const at::Tensor turned = at::cat({-q.narrow(2, dim / 2, dim / 2), q.narrow(2, 0, dim / 2)}, 2);
        const at::Tensor truth = q * twice(cos) + turned * twice(sin);
        at::Tensor ours = original.clone(), twin = original.clone();
        own::rotate(run_, ours, cos, sin, heads, dim, false);
        plain::rotate(twin, cos, sin, heads, dim, false, false);
        const auto rotated = [&](const at::Tensor& x) {
            return x.narrow(1, 0, heads * dim).reshape({rows, heads, dim});
        };
        expect("rope", rotated(ours), rotated(twin), truth);
        const auto rest = [&](const at::Tensor& x) { return x.narrow(1, heads * dim, others * dim); };
        EXPECT_TRUE(at::equal(rest(ours), rest(original))) << "the other heads stay";
        own::rotate(run_, ours, cos, sin, heads, dim, true);
        plain::rotate(twin, cos, sin, heads, dim, true, false);
        EXPECT_LT(worst(ours, original), 2 * bound());
        EXPECT_LT(worst(twin, original), 2 * bound());
    }

    void gates() const {
        for (const int64_t width : kEdgeSizes) gate_of(width, {});
        for (const auto& [width, rule] : gate_cases()) {
            if (width == 33) gate_of(width, rule);
        }
    }
    void gate_of(int64_t width, const GateRule& rule) const {
        {
            const at::Tensor gate_up = random({21, (rule.gated ? 2 : 1) * width}) * 3,
                             dact = random({21, width});
            const at::Tensor in = leaf(gate_up);
            const at::Tensor truth = gate_by_autograd(in, rule);
            truth.backward(dact.cpu().to(at::kDouble));
            expect("gate", own::gate(run_, gate_up, rule), plain::gate(gate_up, rule), truth.detach());
            at::Tensor ours = gate_up.clone(), twin = gate_up.clone();
            const at::Tensor act = own::gate_backward(run_, ours, dact, rule);
            expect("the product again", act, plain::gate_backward(twin, dact, rule), truth.detach());
            expect("dgate_up", ours, twin, in.grad());
            at::Tensor in_place = gate_up.clone();
            EXPECT_TRUE(at::equal(own::gate_backward(run_, in_place, dact, rule, dact), act));
            EXPECT_TRUE(at::equal(in_place, ours) && at::equal(dact, act));
        }
    }

    void cross_entropy() const {
        for (const int64_t vocab : kEdgeSizes) cross_entropy(vocab);
    }
    void cross_entropy(int64_t vocab) const {
        const int64_t rows = 7;
        const at::Tensor logits = random({rows, vocab}) * 4;
        at::Tensor labels = at::randint(0, vocab, {rows}, at::kLong);
        labels[0] = 0;
        labels[1] = vocab - 1;
        const at::Tensor in = leaf(logits);
        const at::Tensor truth = -at::log_softmax(in, 1).gather(1, labels.unsqueeze(1)).squeeze(1);
        truth.sum().backward(at::full({}, 0.25, at::kDouble));
        labels = labels.to(way_.device);
        at::Tensor ours = logits.clone(), twin = logits.clone();
        expect("loss", own::cross_entropy(run_, ours, labels, std::nullopt),
               plain::cross_entropy(twin, labels, std::nullopt), truth.detach());
        EXPECT_TRUE(at::equal(ours, logits) && at::equal(twin, logits)) << "without a scale the logits stay";
        expect("loss with its gradient", own::cross_entropy(run_, ours, labels, 0.25),
               plain::cross_entropy(twin, labels, 0.25), truth.detach());
        expect("dlogits", ours, twin, in.grad());
    }

    /// Tests logits of minus infinity, which mark impossible tokens, and logits of NaN and infinity, which
    /// must make the loss nonfinite.
    void strange_logits() const {
        at::Tensor logits = random({3, 40});
        logits.select(0, 0).narrow(0, 3, 20).fill_(-std::numeric_limits<float>::infinity());
        logits[1][17] = std::numeric_limits<float>::quiet_NaN();
        logits[2][39] = std::numeric_limits<float>::infinity();
        const at::Tensor labels = at::zeros({3}, at::kLong).to(way_.device);
        const at::Tensor truth = plain::cross_entropy(logits.clone(), labels, std::nullopt).cpu();
        const at::Tensor loss = own::cross_entropy(run_, logits.clone(), labels, 1.0).cpu();
        EXPECT_NEAR(loss[0].item<float>(), truth[0].item<float>(), 1e-4);
        EXPECT_FALSE(std::isfinite(loss[1].item<float>()));
        EXPECT_FALSE(std::isfinite(loss[2].item<float>()));
    }

    void all() const {
        rms_norm();
        norm(true);
        weight_gradient_of_many_tokens();
        rope();
        gates();
        cross_entropy();
        strange_logits();
    }

  private:
    Way way_;
    RunRows run_;
};

class OwnOps : public ::testing::TestWithParam<Way> {};

INSTANTIATE_TEST_SUITE_P(OnTheHost, OwnOps,
                         ::testing::Values(Way{at::kFloat, at::kCPU, 1}, Way{at::kFloat, at::kCPU, 3},
                                           Way{at::kBFloat16, at::kCPU, 3}, Way{at::kHalf, at::kCPU, 3},
                                           Way{at::kFloat, at::kCPU, kAsLaunched},
                                           Way{at::kBFloat16, at::kCPU, kAsLaunched},
                                           Way{at::kHalf, at::kCPU, kAsLaunched}),
                         [](const auto& tested) {
                             return std::string(c10::toString(tested.param.dtype)) +
                                    (tested.param.lanes == kAsLaunched
                                         ? "AsLaunched"
                                         : "Lanes" + std::to_string(tested.param.lanes));
                         });

TEST_P(OwnOps, RmsNormAndItsGradientsAreAutograds) {
    Proof(GetParam()).rms_norm();
}
TEST_P(OwnOps, LayerNormAndItsGradientsAreAutograds) {
    Proof(GetParam()).norm(true);
}
TEST_P(OwnOps, RmsNormsWeightGradientSumsEveryChunkOfTokens) {
    Proof(GetParam()).weight_gradient_of_many_tokens();
}
TEST_P(OwnOps, RotationTurnsByThePositionAndBackAgain) {
    Proof(GetParam()).rope();
}
TEST_P(OwnOps, EveryActivationAndItsGradientAreAutograds) {
    Proof(GetParam()).gates();
}
TEST_P(OwnOps, CrossEntropyAndItsGradientAreAutograds) {
    Proof(GetParam()).cross_entropy();
}
TEST_P(OwnOps, CrossEntropyTakesMinusInfinityAndHidesNoNan) {
    Proof(GetParam()).strange_logits();
}
TEST(OwnOpsGpu, KernelsAndTwinsAreAutogradsOnADevice) {
    ASSERT_TRUE(has_gpu());
    for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kHalf})
        Proof({dtype, {at::kCUDA, 0}, 0}).all();
}

}  // namespace
}  // namespace ringmaster
