// Compares an adapter's gradients with differences of its forward; tests its initial state and what dropout
// depends on.
#include "engine/model/lora.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "engine/model/dropout.h"
#include "engine/model/embedding_noise.h"
#include "tests/support/tiny_model.h"

namespace ringmaster {
namespace {

Lora lora_of(std::vector<std::string> targets, double dropout = 0) {
    return {4, 8, dropout, false, std::move(targets), "", ""};
}

size_t index_of(const Parameters& parameters, const std::string& name) {
    for (size_t i = 0; i < parameters.shapes().size(); ++i) {
        if (parameters.shapes()[i].name == name) return i;
    }
    throw std::logic_error(name);
}

/// Returns an adapter whose B is not zero.
Adapter adapter_of(const Lora& lora) {
    Adapter adapter(tiny_model(), lora, Precision::Float32, at::kCPU);
    at::manual_seed(3);
    adapter.parameters().master().values.normal_();
    return adapter;
}

constexpr const char* kQuery = "base_model.model.model.layers.1.self_attn.q_proj.lora_";

TEST(Adapter, HasPeftsNamesShapesAndBeginning) {
    const ModelConfig model = tiny_model();
    Parameters parameters(model, lora_of({"q_proj", "v_proj", "down_proj"}), Precision::Float32, at::kCPU);
    EXPECT_EQ(parameters.shapes().size(), 2U * 3 * 2);
    const size_t a = index_of(parameters, std::string(kQuery) + "A.weight"), b = a + 1;
    EXPECT_EQ(parameters.shapes()[a].shape, (std::vector<int64_t>{4, 32}));
    EXPECT_EQ(parameters.shapes()[b].name, std::string(kQuery) + "B.weight");
    EXPECT_EQ(parameters.shapes()[b].shape, (std::vector<int64_t>{32, 4}));
    EXPECT_TRUE(parameters.shapes()[a].decays);
    parameters.initialize(model, 5);
    const at::Tensor begun = parameters.own_values(parameters.master(), a);
    EXPECT_LE(begun.abs().max().item<double>(), 1 / std::sqrt(32.0));
    EXPECT_NEAR(begun.std().item<double>(), 1 / std::sqrt(3 * 32.0), 0.02) << "uniform";
    EXPECT_EQ(parameters.own_values(parameters.master(), b).abs().max().item<double>(), 0);
    EXPECT_TRUE(parameters.is_empty(0) && parameters.is_empty(parameters.head_unit()));
}

TEST(Adapter, FrozenWeightsAreInTheDtypeOfComputationAlone) {
    const ModelConfig model = tiny_model();
    const Parameters trained(model, Precision::Bf16Mixed, at::kCPU);
    Parameters frozen(model, Precision::Bf16Mixed, at::kCPU, {}, Parameters::Use::Frozen);
    EXPECT_EQ(frozen.master().values.scalar_type(), at::kBFloat16);
    EXPECT_TRUE(frozen.weights().norm_w.is_alias_of(frozen.master().values));
    EXPECT_FALSE(frozen.gradients().values.defined());
    EXPECT_FALSE(frozen.weight_gradients().layers[0].at(LoraSite::Qkv).weight_oc.defined());
    EXPECT_EQ(trained.master().values.scalar_type(), at::kFloat);
}

/// Outputs are linear in the inputs, in A and in B, so a difference of any size gives the slope.
TEST(Adapter, GradientsAreTheSlopesOfTheForward) {
    const at::NoGradGuard no_grad;
    Adapter adapter = adapter_of(lora_of({"q_proj", "v_proj"}, 0.25));
    adapter.begin_step(1, 2);
    adapter.begin_tokens(at::arange(100, 110));
    adapter.enter_layer(1);
    const at::Tensor x = at::randn({10, 32}), dy = at::randn({10, 64});
    const auto outputs = [&] {
        at::Tensor y = at::zeros({10, 64});
        adapter.add_forward(LoraSite::Qkv, x, y);
        return y;
    };
    EXPECT_EQ(outputs().narrow(1, 32, 16).abs().max().item<double>(), 0) << "keys are not adapted";

    at::Tensor dx = at::zeros({10, 32});
    const AdapterBackward backward(&adapter, LoraSite::Qkv, dy);
    backward.add_input_gradient(dx);
    backward.accumulate(x, 0);
    const auto slope = [&](const at::Tensor& values, int64_t at) {
        const at::Tensor value = values.view({-1})[at];
        value.add_(0.5);
        const double above = (outputs() * dy).sum(at::kDouble).item<double>();
        value.sub_(1);
        const double below = (outputs() * dy).sum(at::kDouble).item<double>();
        value.add_(0.5);
        return above - below;
    };
    for (const int64_t at : {0, 37, 319}) EXPECT_NEAR(dx.view({-1})[at].item<double>(), slope(x, at), 1e-3);
    Parameters& parameters = adapter.parameters();
    for (const char* part : {"q_proj.lora_A", "q_proj.lora_B", "v_proj.lora_A", "v_proj.lora_B"}) {
        const size_t i = index_of(
            parameters, "base_model.model.model.layers.1.self_attn." + std::string(part) + ".weight");
        const at::Tensor gradient = parameters.own_values(parameters.gradients(), i);
        for (const int64_t at : {0, 31, 60}) {
            EXPECT_NEAR(gradient[at].item<double>(), slope(parameters.own_values(parameters.master(), i), at),
                        1e-3)
                << part;
        }
    }
}

/// Returns the site's output for some tokens, which shows the elements that dropout keeps.
at::Tensor output(Adapter& adapter, const at::Tensor& x, const at::Tensor& places) {
    adapter.begin_tokens(places);
    adapter.enter_layer(0);
    at::Tensor y = at::zeros({x.size(0), 96});
    adapter.add_forward(LoraSite::GateUp, x, y);
    return y;
}

TEST(Dropout, DependsOnTheTokensPlaceAndTheStepAlone) {
    const at::NoGradGuard no_grad;
    Adapter adapter = adapter_of(lora_of({"gate_proj", "up_proj"}, 0.5));
    adapter.begin_step(7, 1);
    const at::Tensor x = at::randn({12, 32}), places = at::arange(12) * 5;
    const at::Tensor whole = output(adapter, x, places);
    const at::Tensor some = at::tensor({9, 2, 5}, at::kLong);
    EXPECT_LT(
        (output(adapter, x.index_select(0, some), places.index_select(0, some)) - whole.index_select(0, some))
            .abs()
            .max()
            .item<double>(),
        1e-4);
    EXPECT_GT((output(adapter, x, places + 1) - whole).abs().max().item<double>(), 0.1);
    adapter.begin_step(7, 2);
    EXPECT_GT((output(adapter, x, places) - whole).abs().max().item<double>(), 0.1);
    adapter.begin_step(8, 1);
    EXPECT_GT((output(adapter, x, places) - whole).abs().max().item<double>(), 0.1);
    adapter.begin_step(7, 1);
    EXPECT_TRUE(at::equal(output(adapter, x, places), whole));
}

TEST(Dropout, IsTheSameByLibTorchsOperations) {
    const at::Tensor keys = dropout_keys(at::arange(1000) * 7919, 42);
    for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kHalf}) {
        const at::Tensor x = at::randn({1000, 37}).to(dtype);
        for (const double p : {0.01, 0.5, 0.99})
            EXPECT_TRUE(at::equal(dropout(x, keys, 3, p), dropout_anywhere(x, keys, 3, p))) << p;
    }
    EXPECT_FALSE(
        at::equal(dropout(at::ones({1000, 37}), keys, 3, 0.5), dropout(at::ones({1000, 37}), keys, 4, 0.5)));
}

TEST(Noise, IsTheSameByLibTorchsOperations) {
    const at::Tensor keys = dropout_keys(at::arange(1000) * 7919, 42);
    for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kHalf}) {
        const at::Tensor x = at::randn({1000, 37}).to(dtype), y = x.clone();
        add_noise(x, keys, 3, 0.25);
        add_noise_anywhere(y, keys, 3, 0.25);
        EXPECT_TRUE(at::equal(x, y));
    }
}

TEST(Noise, IsSpreadEvenlyAndIndependently) {
    constexpr int64_t kTokens = 4000, kWidth = 64, kBins = 16;
    constexpr double kLimit = 0.5, kNumbers = double(kTokens * kWidth);
    const at::Tensor x_nw = at::zeros({kTokens, kWidth});
    add_noise(x_nw, dropout_keys(at::arange(kTokens), 1), 2, kLimit);
    const at::Tensor wide = x_nw.to(at::kDouble);
    EXPECT_LT(wide.abs().max().item<double>(), kLimit);
    EXPECT_LT(std::abs(wide.mean().item<double>()), 4 * kLimit / std::sqrt(3 * kNumbers));
    EXPECT_NEAR(wide.square().mean().item<double>() * 3 / (kLimit * kLimit), 1, 0.01);
    const at::Tensor counts = at::histc(x_nw, kBins, -kLimit, kLimit).to(at::kDouble);
    const double expected = kNumbers / kBins;
    EXPECT_LT(((counts - expected).square() / expected).sum().item<double>(), 37.7) << "1 in 1000 by chance";
    for (const int64_t axis : {0, 1}) {
        const int64_t pairs = wide.size(axis) - 1;
        const double correlation =
            (wide.narrow(axis, 0, pairs) * wide.narrow(axis, 1, pairs)).mean().item<double>() * 3 /
            (kLimit * kLimit);
        EXPECT_LT(std::abs(correlation), 4 / std::sqrt(kNumbers)) << "neighbours along axis " << axis;
    }
}

TEST(Noise, DependsOnTheTokensPlaceAndTheStepAlone) {
    Config config;
    config.optim_args = {{"neftune_noise_alpha", 5.0}, {"neftune_length_multiple", 64}};
    EmbeddingNoise noise(config);
    const auto drawn = [&](const at::Tensor& places_n, int64_t length) {
        const at::Tensor x_nc = at::zeros({places_n.size(0), 16});
        noise.add(x_nc, places_n, length);
        return x_nc;
    };
    noise.begin_step(7, 1);
    const at::Tensor places = at::arange(12) * 5, some = at::tensor({9, 2, 5}, at::kLong);
    const at::Tensor whole = drawn(places, 50);
    EXPECT_TRUE(at::equal(drawn(places.index_select(0, some), 50), whole.index_select(0, some)));
    EXPECT_TRUE(at::equal(drawn(places, 64), whole)) << "a length is rounded up to a multiple of 64";
    EXPECT_LE(whole.abs().max().item<double>(), 5 / std::sqrt(64.0 * 16));
    EXPECT_NEAR((drawn(places, 256) * 2 - whole).abs().max().item<double>(), 0, 1e-7);
    EXPECT_FALSE(at::equal(drawn(places + 1, 50), whole));
    noise.begin_step(7, 2);
    EXPECT_FALSE(at::equal(drawn(places, 50), whole));
    noise.begin_step(7, 1);
    EXPECT_TRUE(at::equal(drawn(places, 50), whole));
}

TEST(Dropout, DropsTheShareThatIsAskedForAndKeepsTheMean) {
    const at::NoGradGuard no_grad;
    const int64_t tokens = 4000;
    Adapter adapter(tiny_model(), {32, 32, 0.3, false, {"o_proj"}, "", ""}, Precision::Float32, at::kCPU);
    // With identities for A and B, outputs are the inputs after dropout.
    for (size_t i = 0; i < adapter.parameters().shapes().size(); ++i) {
        const auto& shape = adapter.parameters().shapes()[i].shape;
        adapter.parameters()
            .own_values(adapter.parameters().master(), i)
            .copy_(at::eye(shape[0], shape[1]).view({-1}));
    }
    adapter.begin_step(1, 1);
    adapter.begin_tokens(at::arange(tokens));
    at::Tensor first, second;
    for (const int layer : {0, 1}) {
        adapter.enter_layer(layer);
        at::Tensor y = at::zeros({tokens, 32});
        adapter.add_forward(LoraSite::Output, at::ones({tokens, 32}), y);
        const at::Tensor dropped = y.eq(0).to(at::kDouble);
        EXPECT_NEAR(dropped.mean().item<double>(), 0.3, 0.005);
        EXPECT_NEAR(y.mean().item<double>(), 1, 0.01);
        EXPECT_LT((dropped.mean(0) - 0.3).abs().max().item<double>(), 0.04) << "in every column";
        EXPECT_LT((dropped.mean(1).var().item<double>() / (0.21 / 32)), 1.2) << "tokens are independent";
        (layer == 0 ? first : second) = dropped;
    }
    EXPECT_NEAR((first * second).mean().item<double>(), 0.09, 0.005) << "layers are independent";
    adapter.begin_tokens({});
    at::Tensor y = at::zeros({4, 32});
    adapter.add_forward(LoraSite::Output, at::ones({4, 32}), y);
    EXPECT_TRUE(at::equal(y, at::ones({4, 32}))) << "in an evaluation";
}

}  // namespace
}  // namespace ringmaster
